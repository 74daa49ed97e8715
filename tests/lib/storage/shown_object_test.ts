import assert from "node:assert/strict";
import { sandboxObject } from "@/lib/storage/shown_object.ts";

const SANDBOX = "default-src 'none'; sandbox";

function changed(type: string | null, disposition: string | null = 'inline; filename="a.pdf"') {
  const headers = new Headers({ "Content-Security-Policy": SANDBOX });
  if (type !== null) headers.set("Content-Type", type);
  if (disposition !== null) headers.set("Content-Disposition", disposition);
  sandboxObject(headers, "folder/a.pdf");
  return {
    type: headers.get("Content-Type"),
    disposition: headers.get("Content-Disposition"),
    policy: headers.get("Content-Security-Policy"),
  };
}

Deno.test("shown object: what cannot run is shown with exactly the type that was recognized", () => {
  for (
    const [stored, sent] of [
      ["image/png", "image/png"],
      ["IMAGE/PNG; a=b", "image/png"],
      ["text/plain", "text/plain; charset=utf-8"],
      ["text/plain; charset=utf-7", "text/plain; charset=utf-8"],
      ["video/mp4;codecs=avc1", "video/mp4"],
    ]
  ) {
    assert.deepEqual(changed(stored), { type: sent, disposition: 'inline; filename="a.pdf"', policy: SANDBOX });
  }
});

Deno.test("shown object: a PDF has a policy without a sandbox that allows no script", () => {
  const { type, disposition, policy } = changed("application/PDF; version=1.7");
  assert.equal(type, "application/pdf");
  assert.match(disposition ?? "", /^inline/);
  assert.match(policy ?? "", /script-src 'none'.*frame-ancestors 'none'/);
  assert.doesNotMatch(policy ?? "", /sandbox/);
});

Deno.test("shown object: a type that a browser may read as another is saved under the sandbox", () => {
  for (
    const type of [
      "application/pdf;, text/html",
      "application/pdf; a=b, text/html",
      "application/pdf, text/html",
      "text/html, application/pdf",
      "application/pdf text/html",
      'application/pdf\t;x=","',
      "image/svg+xml",
      "text/html",
      "",
      null,
    ]
  ) {
    const headers = changed(type);
    assert.equal(headers.disposition, 'attachment; filename="a.pdf"', `${type}`);
    assert.equal(headers.policy, SANDBOX, `${type}`);
  }
});

Deno.test("shown object: a disposition that a browser would not follow is replaced", () => {
  for (const disposition of [null, "attachment, inline", "attachments", "inline, attachment", "form-data"]) {
    assert.equal(changed("text/html", disposition).disposition, 'attachment; filename="a.pdf"', `${disposition}`);
  }
  assert.equal(changed("text/html", "attachment; filename=b").disposition, "attachment; filename=b");
  assert.equal(changed("image/png", "inline, attachment").disposition, 'attachment; filename="a.pdf"');
});
