import type { CorsRule } from "./cors_configuration.ts";

/** What a browser requests: the names of the headers are those of a preflight, none for an actual request. */
interface CorsQuery {
  origin: string;
  method: string;
  headers: readonly string[];
}

/** The rule that allows a request. */
export interface CorsMatch {
  rule: CorsRule;
  /** Whether the rule's origin is `*`: then the response is for every origin, and never with credentials. */
  isForAll: boolean;
}

/** The first rule that allows the origin, the method and every header; null where none does (S3 API, CORS rules). */
export function matchingCorsRule(rules: readonly CorsRule[], query: CorsQuery): CorsMatch | null {
  for (const rule of rules) {
    const pattern = rule.origins.find((origin) => fits(origin, query.origin));
    if (pattern === undefined || !rule.methods.includes(query.method)) continue;
    const allowed = rule.allowedHeaders.map((header) => header.toLowerCase());
    if (query.headers.every((header) => allowed.some((one) => fits(one, header.toLowerCase())))) {
      return { rule, isForAll: pattern === "*" };
    }
  }
  return null;
}

/** The names in an Access-Control-Request-Headers. */
export function requestedHeaders(header: string | null): string[] {
  return (header ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** Whether a text is the pattern's, whose `*` stands for any text, also for none. */
function fits(pattern: string, text: string): boolean {
  const star = pattern.indexOf("*");
  if (star < 0) return pattern === text;
  return text.length >= pattern.length - 1 && text.startsWith(pattern.slice(0, star)) &&
    text.endsWith(pattern.slice(star + 1));
}
