BEGIN TRANSACTION;
CREATE TABLE score_chain (
            events BIGINT NOT NULL, head TEXT NOT NULL, begun TEXT NOT NULL, before_it BIGINT NOT NULL
        );
INSERT INTO "score_chain" VALUES(6,'79d5fe3d2cbba0a77d83e15fe0ebeb92f2394efc1c82be7491710c7c028e0169','2026-11-22T13:10:41.525Z',0);
CREATE TABLE score_drafts (
            analyst TEXT NOT NULL, answer TEXT NOT NULL, kind TEXT NOT NULL, draft TEXT NOT NULL,
            PRIMARY KEY (analyst, answer, kind)
        );
INSERT INTO "score_drafts" VALUES('ana','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','score','{"analyst":"ana","answer":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","kind":"score","typed":"11...","note":"so far","seconds":0.0,"updated":"2026-11-22T13:10:41.644Z","after":6,"turn":"","revision":0,"preselected":false}');
CREATE TABLE score_events (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, answer TEXT NOT NULL, event TEXT NOT NULL, digest TEXT NOT NULL DEFAULT '');
INSERT INTO "score_events" VALUES(1,'event-1','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','{"id":"event-1","time":"2026-05-04T12:30:01.000Z","kind":"score","analyst":"ana","answer":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","values":{"relevance":1.0,"accuracy":1.0,"clarity":0.5,"completeness":0.5,"reference":-1.0},"note":"grüß e","seconds":61.5,"suggested":{"reference":-1.0},"rubric":"7b32a71193c6"}','45d40e15c48d14a4f949dd62ee4206ab40f7343a681f90589b4e7ba59d42fe03');
INSERT INTO "score_events" VALUES(2,'event-2','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','{"id":"event-2","time":"2026-05-04T12:30:02.000Z","kind":"score","analyst":"bo","answer":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","values":{"relevance":-1.0,"accuracy":-1.0,"clarity":1.0,"completeness":0.5,"reference":-1.0},"seconds":10.0}','2f5082cb12da78003c723195cede075000457c65572a3cafc90d3c9157083ac1');
INSERT INTO "score_events" VALUES(3,'event-3','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','{"id":"event-3","time":"2026-05-04T12:30:03.000Z","kind":"look","analyst":"cy","answer":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","independent":false}','09a03d8da2845c4e377131a96e77626b6e31c0676c67683ef548f0457f3ee74b');
INSERT INTO "score_events" VALUES(4,'event-4','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','{"id":"event-4","time":"2026-05-04T12:30:04.000Z","kind":"adjudication","analyst":"cy","answer":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","values":{"relevance":1.0,"accuracy":1.0,"clarity":1.0,"completeness":0.5,"reference":-1.0},"rubric":"7b32a71193c6"}','a674bf153a0caf0983804711b3db50c6a2ceb2f2dfe30aad42bf6931448151c7');
INSERT INTO "score_events" VALUES(5,'event-5','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','{"id":"event-5","time":"2026-05-04T12:30:05.000Z","kind":"score","analyst":"ana","answer":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","values":{"relevance":1.0,"accuracy":1.0,"clarity":1.0,"completeness":1.0,"reference":1.0},"rubric":"7b32a71193c6"}','5ce6eb1b41c2b741b727f7f2e128ba10051600f0d89804abec6e1707742e8daf');
INSERT INTO "score_events" VALUES(6,'event-6','bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb','{"id":"event-6","time":"2026-05-04T12:30:06.000Z","kind":"undo","analyst":"ana","answer":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","undoes":"event-5"}','79d5fe3d2cbba0a77d83e15fe0ebeb92f2394efc1c82be7491710c7c028e0169');
CREATE TABLE score_reservations (analyst TEXT PRIMARY KEY, answer TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE score_schema (version INTEGER NOT NULL);
INSERT INTO "score_schema" VALUES(2);
CREATE INDEX score_events_answer ON score_events (answer);
CREATE INDEX score_drafts_answer ON score_drafts (answer);
CREATE TRIGGER score_events_not_changed BEFORE UPDATE ON score_events
            BEGIN SELECT RAISE(ABORT, 'events of scores are only ever added'); END;
CREATE TRIGGER score_events_not_deleted BEFORE DELETE ON score_events
            BEGIN SELECT RAISE(ABORT, 'events of scores are only ever added'); END;
COMMIT;
