// A part of what the pad shows. The pad is sent once; each part of its data comes by a feed of its own, when it changes.
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const pad = (globalThis.genaipaPad ??= { feeds: {} });
  const feed = (pad.feeds[data.part] = { data, setStateValue, setTriggerValue });
  pad.take?.();
  return () => {
    if (!parentElement.isConnected && pad.feeds[data.part] === feed) delete pad.feeds[data.part];
  };
}
