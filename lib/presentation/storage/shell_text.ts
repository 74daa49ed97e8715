const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * A text as one word of a POSIX shell. One with characters that a terminal would act on is written in ASCII, as
 * `$'…'` (POSIX 2024; bash, zsh, ksh): a text that is pasted could end the paste and run what follows.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const written = Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w@%+=:,./ -]/.test(character) ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `$'${written.join("")}'`;
}
