import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCorsRules } from "@/embedded/store/s3/cors.ts";
import { CORS_CONFIGURATION } from "@/lib/mapi/records/tenant.ts";

const PATTERN = new RegExp(CORS_CONFIGURATION.pattern);
const PARTIES = "<AllowedOrigin>https://*.example.org</AllowedOrigin>\n<AllowedMethod>GET</AllowedMethod>";

const rule = (content: string) => `<CORSConfiguration><CORSRule>${content}</CORSRule></CORSConfiguration>`;

Deno.test("CORS pattern: the embedded store takes whatever fits it", () => {
  fc.assert(fc.property(fc.stringMatching(PATTERN), (text) => parseCorsRules(text).length > 0));
});

Deno.test("CORS pattern: documents as clients write them fit it", () => {
  const header = "<AllowedHeader>x-amz-*</AllowedHeader>";
  const exposed = "<ExposeHeader>ETag</ExposeHeader>";
  const [id, age] = ["<ID>one</ID>", "<MaxAgeSeconds>3600</MaxAgeSeconds>"];
  const documents = [
    rule(PARTIES),
    rule(`${id}${header}${PARTIES}${exposed}${age}`),
    rule(`${header}${PARTIES}${exposed}${id}${age}`),
    rule(`${PARTIES}${header}${age}${exposed}`),
    rule("<AllowedMethod>PUT</AllowedMethod><AllowedMethod>HEAD</AllowedMethod><AllowedOrigin>*</AllowedOrigin>"),
    `<?xml version="1.0" encoding="UTF-8"?>\n<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <CORSRule>${PARTIES}</CORSRule>
      <CORSRule>${PARTIES}</CORSRule>
    </CORSConfiguration>\n`,
  ];
  for (const document of documents) {
    assert.match(document, PATTERN);
    assert.ok(parseCorsRules(document).length > 0);
  }
});

Deno.test("CORS pattern: what the embedded store refuses does not fit it", () => {
  const documents = [
    "",
    "text",
    "<CORSConfiguration></CORSConfiguration>",
    rule(""),
    rule("<AllowedMethod>GET</AllowedMethod>"),
    rule("<AllowedOrigin>*</AllowedOrigin>"),
    rule(PARTIES.replace("GET", "PATCH")),
    rule(PARTIES.replace("https", "*")),
    rule(`${PARTIES}<ExposeHeader>*</ExposeHeader>`),
    rule(`${PARTIES}<Other>a</Other>`),
    rule(`${PARTIES}<MaxAgeSeconds>-1</MaxAgeSeconds>`),
    `${rule(PARTIES)}${rule(PARTIES)}`,
  ];
  for (const document of documents) {
    assert.doesNotMatch(document, PATTERN);
    assert.throws(() => parseCorsRules(document), document);
  }
});
