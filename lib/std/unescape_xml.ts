const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Text with its entities decoded; undefined when one of them is not predefined in XML. */
export function unescapeXml(text: string): string | undefined {
  // Every ETag has these, and seldom any other entity.
  const quoted = text.includes("&quot;") ? text.replaceAll("&quot;", '"') : text;
  let decoded = "";
  let at = 0;
  for (;;) {
    const start = quoted.indexOf("&", at);
    if (start < 0) return at === 0 ? quoted : decoded + quoted.slice(at);
    const name = /^[^;&]{1,10}(?=;)/.exec(quoted.slice(start + 1, start + 12))?.[0];
    const value = name === undefined ? undefined : entity(name);
    if (name === undefined || value === undefined) return undefined;
    decoded += quoted.slice(at, start) + value;
    at = start + name.length + 2;
  }
}

function entity(name: string): string | undefined {
  if (Object.hasOwn(NAMED, name)) return NAMED[name];
  const match = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
  if (!match) return undefined;
  const point = match[1] ? parseInt(match[1], 16) : Number(match[2]);
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? undefined : String.fromCodePoint(point);
}
