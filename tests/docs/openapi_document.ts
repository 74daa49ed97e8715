import { EMBEDDED_FORMS } from "@/embedded/store/names.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";
import { webDeps } from "@/tests/routes/web_deps_fixture.ts";

/** The golden copy of `/openapi.json`. */
export const GOLDEN = new URL("openapi.golden.json", import.meta.url);

/** The longest line that an object or a list is printed on, characters. */
const LINE_WIDTH = 120;

/** `/openapi.json` as `deno task start` serves it: all roles, in front of the embedded store. */
export async function servedDocument(): Promise<unknown> {
  let document: unknown;
  await withGateway(
    { gateway: { issuedForms: EMBEDDED_FORMS }, app: { web: webDeps(fakeSource({})) } },
    async ({ app }) => {
      document = await (await app.request("/openapi.json")).json();
    },
  );
  return document;
}

/** JSON with a line for each value that fits on one, so that a diff shows what has changed and little else. */
export function printed(value: unknown, indent = ""): string {
  const text = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + text.length <= LINE_WIDTH) return text;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const lines = Array.isArray(value)
    ? value.map((element) => printed(element, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${printed(member, inner)}`);
  return `${open}\n${lines.map((line) => inner + line).join(",\n")}\n${indent}${close}`;
}
