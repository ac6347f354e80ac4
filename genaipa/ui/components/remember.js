// Remembers in this browser under which name one sits at the desk; an empty name forgets it.
export default function ({ data }) {
  const age = data.name ? 365 * 24 * 3600 : 0;
  document.cookie = `${data.cookie}=${encodeURIComponent(data.name)}; Path=/; Max-Age=${age}; SameSite=Strict`;
}
