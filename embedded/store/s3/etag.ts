/** An ETag as the index keeps it: a header and an XML body bring it in quotes or without. */
export function unquotedEtag(text: string): string {
  return text.trim().replace(/^"(.*)"$/, "$1");
}
