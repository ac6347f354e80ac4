const MOMENT = 50; // ms between two looks whether the field for the name is there
const LOOKS = 100;

// Whoever comes to the desk can type their name at once.
function goToName(looks = LOOKS) {
  const field = document.querySelector("[data-testid=stForm] input");
  if (field && document.activeElement === document.body) field.focus();
  else if (!field && looks) setTimeout(() => goToName(looks - 1), MOMENT);
}

// Remembers in this browser under which name one sits at the desk; an empty name forgets it.
export default function ({ data }) {
  const age = data.name ? 365 * 24 * 3600 : 0;
  const tls = location.protocol.startsWith("https") ? "; Secure" : "";
  document.cookie = `${data.cookie}=${encodeURIComponent(data.name)}; Path=/; Max-Age=${age}; SameSite=Strict${tls}`;
  if (!data.name) goToName();
}
