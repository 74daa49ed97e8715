import assert from "node:assert/strict";
import { sdkDocument } from "@/lib/s3/sdk.ts";

function refused(xml: string, root = "a"): void {
  assert.throws(() => sdkDocument(xml, root), { name: "MalformedXml" }, xml.slice(0, 100));
}

Deno.test("documents for the SDK: what its parser would take for an empty document is rejected", () => {
  for (
    const xml of ["", " ", "text", "<?xml version='1.0'?>", "<a>", "<a></b>", "<b/>", "<html><a/></html>", "<a/><a/>"]
  ) {
    refused(xml);
  }
  refused('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>');
  refused("<a>&unknown;</a>");
});

Deno.test("documents for the SDK: depth, elements and texts are bounded", () => {
  refused("<a>".repeat(200) + "</a>".repeat(200));
  refused(`<a>${"<b/>".repeat(50_001)}</a>`);
  refused(`<a>${"x".repeat(65 * 1024)}</a>`);
  refused(`<a x="${"x".repeat(65 * 1024)}"/>`);
  const long = `<a>${"<b>x</b>".repeat(40_000)}<c>${"y".repeat(60 * 1024)}</c></a>`;
  assert.equal(sdkDocument(long, "a"), long);
});

Deno.test("documents for the SDK: prefixes are removed, wide characters are written out", () => {
  const xml =
    `<?xml version="1.0"?>\n<ns2:a xmlns:ns2='urn:x'><b c="d" >x &lt; &#10;&#x1F642;</b><ns2:c e="f"/><d/></ns2:a>`;
  assert.equal(
    sdkDocument(xml, "a"),
    `<?xml version="1.0"?>\n<a xmlns:ns2='urn:x'><b c="d" >x &lt; &#10;🙂</b><c e="f"/><d/></a>`,
  );
});
