import assert from "node:assert/strict";
import { administrator, embeddedTest } from "./embedded_gateway.ts";
import { type Document, resolved } from "./schema_samples.ts";

type Json = Record<string, unknown>;

/** What the changes below are made to. */
const NAMES: Readonly<Record<string, string>> = {
  tenant_name: "archive",
  ns: "ruled",
  username: "ruled",
  groupname: "ruled",
  name: "ruled",
  retention_class: "ruled",
};

const TOGETHER: Readonly<Record<string, Json>> = { emailTemplate: { from: "a", subject: "a" } };

/** Texts of which at least one breaks any pattern of a rule. */
const ODD = ["\u0001", "a/b", "x,y", "?", "[", "0 GB", ".."];

embeddedTest(
  "openapi: what its rules of members forbid the embedded store refuses, and their bounds it takes",
  async ({ app, as }) => {
    const curator = as("archive", "curator");
    const at = "/tenants/archive";
    for (
      const [path, body] of [
        ["/userAccounts?password=ruled-12", administrator("ruled")],
        ["/namespaces", { name: "ruled" }],
        ["/groupAccounts", { groupname: "ruled" }],
        ["/contentClasses", { name: "ruled" }],
        ["/namespaces/ruled/retentionClasses", { name: "ruled", value: "0" }],
      ] as const
    ) {
      assert.equal((await curator("PUT", at + path, body)).status, 201, path);
    }
    const document: Document = await (await app.request("/openapi.json")).json();
    const checked: string[] = [];
    for (const [path, methods] of Object.entries(document.paths)) {
      const schema = methods.post?.requestBody?.content["application/json"]?.schema;
      if (!schema || !path.startsWith("/api/v1/mapi/")) continue;
      const target = path.replace("/api/v1/mapi", "").replace(/\{(\w+)\}/g, (_, name: string) => NAMES[name]);
      for (const [member, rule] of rules(resolved(schema, document), document)) {
        const send = async (value: unknown) => {
          const { status, text } = await curator("POST", target, bodyWith(member, value));
          return {
            status,
            what: `POST ${target} ${member} ${JSON.stringify(value).slice(0, 60)}: ${status} ${text}`,
          };
        };
        for (const value of violations(rule)) {
          const { status, what } = await send(value);
          assert.ok(status === 400 || status === 422, what);
          checked.push(member);
        }
        for (const value of bounds(rule)) {
          const { status, what } = await send(value);
          assert.equal(status, 200, what);
        }
      }
    }
    // Of every kind of rule there were some.
    for (const member of ["softQuota", "hardQuota", "description", "loginMessage", "pruneDays", "retentionDefault"]) {
      assert.ok(checked.includes(member), member);
    }
    assert.ok(checked.length > 120, String(checked.length));
  },
);

/** The members of an object's schema, those of objects in it by their path, each with what it must be when not null. */
function rules(schema: Json, document: Document): [member: string, rule: Json][] {
  return Object.entries(Object(schema.properties)).flatMap(([name, given]): [string, Json][] => {
    const options = Array.isArray(Object(given).anyOf) ? Object(given).anyOf : [given];
    const rule = resolved(options[0], document);
    if (rule.type !== "object") return [[name, rule]];
    return rules(rule, document).map(([inner, one]) => [`${name}.${inner}`, one]);
  });
}

/** A body with one member, and those that go together with it. */
function bodyWith(member: string, value: unknown): Json {
  const [outer, inner] = member.split(".");
  if (inner === undefined) return { [outer]: value };
  return { [outer]: { ...TOGETHER[outer], [inner]: value } };
}

function violations(rule: Json): unknown[] {
  const { maxLength, minLength, pattern, minimum, maximum, maxItems, items } = rule;
  if (rule.type === "array") {
    const inner = violations(Object(items)).map((one) => [one]);
    return typeof maxItems === "number" && maxItems <= 100 ? [...inner, Array(maxItems + 1).fill("a")] : inner;
  }
  if (rule.type === "integer") return [Number(minimum) - 1, Number(maximum) + 1].filter(Number.isSafeInteger);
  if (rule.type !== "string") return [];
  return [
    ...(typeof maxLength === "number" ? ["a".repeat(maxLength + 1)] : []),
    ...(typeof minLength === "number" && minLength > 0 ? ["a".repeat(minLength - 1)] : []),
    ...(typeof pattern === "string" ? ODD.filter((text) => !new RegExp(pattern, "u").test(text)).slice(0, 2) : []),
    ...(Array.isArray(rule.enum) ? ["NONE SUCH"] : []),
  ];
}

function bounds({ type, minimum, maximum, maxLength, pattern }: Json): unknown[] {
  const isBound = (bound: unknown) => Number.isSafeInteger(bound) && Math.abs(Number(bound)) < Number.MAX_SAFE_INTEGER;
  if (type === "integer") return [minimum, maximum].filter(isBound);
  // Only of free text is it known what fits.
  const isFree = type === "string" && typeof pattern === "string" &&
    ["a", "\n😀"].every((text) => new RegExp(pattern, "u").test(text));
  return isFree && typeof maxLength === "number" ? ["😀".repeat(maxLength)] : [];
}
