/** What bagit.txt declares (RFC 8493, section 2.1.1). */
interface BagDeclaration {
  /** Such as `1.0`. */
  readonly version: string;
  readonly encoding: string;
}

/** The declaration of a bag; null for a text that is none. */
export function parseBagDeclaration(text: string): BagDeclaration | null {
  const [, version, encoding] =
    /^\uFEFF?BagIt-Version: ([0-9]{1,3}\.[0-9]{1,3})[ \t]*[\r\n]\s*Tag-File-Character-Encoding: (\S{1,40})\s*$/
      .exec(text) ?? [];
  return version === undefined ? null : { version, encoding };
}

/** Whether `%25` stands for a percent sign in the manifests of a bag: since version 1.0. */
export function escapesPercent({ version }: BagDeclaration): boolean {
  return Number(version.split(".")[0]) >= 1;
}

/** Bytes and files of the payload of a bag. */
export interface PayloadOxum {
  readonly bytes: number;
  readonly files: number;
}

/**
 * `Payload-Oxum` of bag-info.txt (RFC 8493, section 2.2.2).
 *
 * @returns null where there is none, `invalid` where it is no pair of numbers or there are several that differ. Numbers
 *   above 2^53 - 1, which no payload has, are none: they could not be compared exactly
 */
export function parsePayloadOxum(text: string): PayloadOxum | null | "invalid" {
  const values = new Set(
    text.split(/\r\n|\r|\n/).flatMap((line) => /^payload-oxum\s*:(.*)$/is.exec(line)?.[1].trim() ?? []),
  );
  if (values.size === 0) return null;
  const [, ...numbers] = /^([0-9]{1,16})\.([0-9]{1,16})$/.exec([...values][0]) ?? [];
  const [bytes, files] = numbers.map(Number);
  if (values.size > 1 || !Number.isSafeInteger(bytes) || !Number.isSafeInteger(files)) return "invalid";
  return { bytes, files };
}

/** What the names in a manifest are like. */
interface NamesOfManifest {
  /** Whether one has a percent sign. */
  readonly hasPercent: boolean;
  /** Whether one has what stands for a line end in manifests, such as `%0A`. */
  readonly hasEscape: boolean;
}

/** Whether a bag may keep its declaration when a manifest in UTF-8 is added. */
export function isFitDeclaration(declaration: BagDeclaration, { hasEscape }: NamesOfManifest): boolean {
  return /^utf-?8$/i.test(declaration.encoding) && (!hasEscape || escapesPercent(declaration));
}

/**
 * bagit.txt of a bag that is written. With a percent sign in a name it is one of version 0.97, which has them as they are:
 * bagit-python reads `%25` as three characters in any version.
 */
export function bagDeclaration({ hasPercent, hasEscape }: NamesOfManifest): string {
  const version = hasPercent && !hasEscape ? "0.97" : "1.0";
  return `BagIt-Version: ${version}\nTag-File-Character-Encoding: UTF-8\n`;
}

/** bag-info.txt of a bag that is written. @param at ms since 1970 */
export function bagInfo({ bytes, files }: PayloadOxum, at: number): string {
  return `Bagging-Date: ${new Date(at).toISOString().slice(0, 10)}\nPayload-Oxum: ${bytes}.${files}\n`;
}

/** bag-info.txt with another Payload-Oxum; its other lines stay as they are. */
export function withPayloadOxum(text: string, { bytes, files }: PayloadOxum): string {
  let isOxum = false;
  const others = text.split(/(?<=\n|\r(?!\n))/).filter((line) => {
    // A line that begins with a blank belongs to the one before (RFC 8493, section 2.2.2).
    if (!/^[ \t]/.test(line)) isOxum = /^payload-oxum\s*:/i.test(line);
    return !isOxum;
  }).join("");
  const end = others === "" || /[\r\n]$/.test(others) ? "" : "\n";
  return `${others}${end}Payload-Oxum: ${bytes}.${files}\n`;
}
