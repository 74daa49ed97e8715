import assert from "node:assert/strict";
import { parseCorsRules } from "@/embedded/store/s3/cors.ts";
import { thrownCode } from "@/embedded/tests/store/store_fixture.ts";

const document = (content: string) => `<CORSConfiguration>${content}</CORSConfiguration>`;
const LEAST = "<AllowedOrigin>https://a.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>";
const withMore = (more: string) => document(`<CORSRule>${LEAST}${more}</CORSRule>`);

Deno.test("CORS configuration: what S3 rejects is rejected with its codes", () => {
  const cases: [code: string, text: string][] = [
    ["none", withMore("")],
    ["none", withMore("<AllowedHeader>x-*</AllowedHeader><MaxAgeSeconds> 2147483647 </MaxAgeSeconds>")],
    ["MalformedXML", "<CORSConfiguration>"],
    ["MalformedXML", document("")],
    ["MalformedXML", `<Other><CORSRule>${LEAST}</CORSRule></Other>`],
    ["MalformedXML", document(`<Rule>${LEAST}</Rule>`)],
    ["MalformedXML", document("<CORSRule><AllowedMethod>GET</AllowedMethod></CORSRule>")],
    ["MalformedXML", document("<CORSRule><AllowedOrigin>a</AllowedOrigin></CORSRule>")],
    ["MalformedXML", withMore("<Unknown>1</Unknown>")],
    ["MalformedXML", withMore("<ID><b/></ID>")],
    ["MalformedXML", withMore("<ID>1</ID><ID>2</ID>")],
    ...["", "-1", "1.5", "x", "2147483648"].map((age): [string, string] => [
      "MalformedXML",
      withMore(`<MaxAgeSeconds>${age}</MaxAgeSeconds>`),
    ]),
    ["InvalidArgument", withMore(`<ID>${"ö".repeat(256)}</ID>`)],
    ["none", withMore(`<ID>${"ö".repeat(255)}</ID>`)],
    ["InvalidRequest", withMore("<AllowedMethod>PATCH</AllowedMethod>")],
    ["InvalidRequest", withMore("<AllowedMethod>get</AllowedMethod>")],
    ["InvalidRequest", withMore("<AllowedOrigin>https://*.*.example</AllowedOrigin>")],
    ["InvalidRequest", withMore("<AllowedOrigin>https://å.example</AllowedOrigin>")],
    ["InvalidRequest", withMore("<AllowedOrigin></AllowedOrigin>")],
    ["InvalidRequest", withMore("<AllowedHeader>x-*-*</AllowedHeader>")],
    ["InvalidRequest", withMore("<AllowedHeader>x y</AllowedHeader>")],
    ["InvalidRequest", withMore("<ExposeHeader>x-*</ExposeHeader>")],
    ["InvalidRequest", withMore("<ExposeHeader>etag\nset-cookie: a=b</ExposeHeader>")],
    ["none", document(`<CORSRule>${LEAST}</CORSRule>`.repeat(100))],
    ["InvalidRequest", document(`<CORSRule>${LEAST}</CORSRule>`.repeat(101))],
    ["MalformedXML", withMore(`<ID>${" ".repeat(64 * 1024)}</ID>`)],
  ];
  assert.deepEqual(cases.map(([, text]) => thrownCode(() => parseCorsRules(text))), cases.map(([code]) => code));
});
