const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * The weights of what a header such as Accept-Encoding names (RFC 9110, section 12.4.2), in the header's order and in lower
 * case. A malformed weight is 0, so that `*` does not speak for its name.
 */
export function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of header.split(",")) {
    const [name, weight, ...rest] = element.split(";").map((part) => part.trim());
    if (name === "") continue;
    const written = weight === undefined ? "1" : WEIGHT.exec(weight)?.[1];
    weights.set(name.toLowerCase(), rest.length === 0 ? Number(written ?? 0) : 0);
  }
  return weights;
}
