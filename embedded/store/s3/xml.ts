/** Whether XML 1.0 can hold a text: all but most control characters and two that are no characters (section 2.2). */
export function fitsXml(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text);
}

/** Text for an XML element or attribute. Characters that XML cannot hold become U+FFFD. */
export function escapeXml(text: string): string {
  return text.replace(
    // deno-lint-ignore no-control-regex
    /[&<>"\r]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
    (character) => ENTITIES[character] ?? "\ufffd",
  );
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };

/** An XML response of the S3 protocol. */
export function xmlResponse(root: string, content: string, headers: Record<string, string> = {}): Response {
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`,
    { headers: { ...headers, "content-type": "application/xml" } },
  );
}

/** One element with text. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/** An instant as S3's XML spells it: ISO 8601 in UTC with milliseconds. */
export function xmlTime(ms: number): string {
  return new Date(ms).toISOString();
}
