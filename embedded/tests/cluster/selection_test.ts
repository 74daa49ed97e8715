import fc from "fast-check";
import assert from "node:assert/strict";
import { ApiError } from "@/embedded/cluster/api_status.ts";
import type { ConfigMap } from "@/embedded/cluster/kube_objects.ts";
import { parseFieldSelector, parseLabelSelector } from "@/embedded/cluster/selection.ts";

const LABELS = { app: "batch", "example.org/kind": "status", empty: "" };

Deno.test("label selector: each operator", () => {
  const cases: [string, boolean][] = [
    ["", true],
    ["app=batch", true],
    ["app==batch", true],
    ["app=other", false],
    ["app!=other", true],
    ["app!=batch", false],
    ["missing!=batch", true],
    ["missing=", false],
    ["empty=", true],
    ["app", true],
    ["missing", false],
    ["!missing", true],
    ["!app", false],
    ["app in (a, batch)", true],
    ["app in (a,b)", false],
    ["app notin (a,b)", true],
    ["missing notin (a,b)", true],
    ["app notin (batch)", false],
    ["app=batch,example.org/kind=status,!missing", true],
    ["app=batch,example.org/kind!=status", false],
    ["app in (a,batch),example.org/kind in (status)", true],
    ["toString", false],
    ["constructor", false],
  ];
  for (const [selector, expected] of cases) {
    assert.equal(parseLabelSelector(selector)(LABELS), expected, selector);
  }
});

Deno.test("label selector: an invalid selector is a 400", () => {
  for (const bad of ["=", "a=b=c", "a in b", "a in (b", "a b", "!", "a,,b", "a=b c", "-a", "a=-b", "a!b", "ä=1"]) {
    assert.throws(() => parseLabelSelector(bad), (error) => error instanceof ApiError && error.code === 400, bad);
  }
});

Deno.test("selectors: any text is a selector or a 400", () => {
  const judge = (parse: () => unknown) => {
    try {
      parse();
    } catch (error) {
      assert.ok(error instanceof ApiError && error.code === 400, String(error));
    }
  };
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    judge(() => parseLabelSelector(text)({}));
    judge(() => parseFieldSelector(text, "pods"));
  }));
});

Deno.test("field selector: names, namespaces and a pod's phase, with escapes", () => {
  const metadata = { name: "a,b", namespace: "n", uid: "", resourceVersion: "1", creationTimestamp: "" };
  const map: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata };
  assert.equal(parseFieldSelector("metadata.name=a\\,b,metadata.namespace!=m", "configmaps")(map), true);
  assert.equal(parseFieldSelector("metadata.name=a", "configmaps")(map), false);
  assert.throws(() => parseFieldSelector("status.phase=Running", "configmaps"), /field label not supported/);
  assert.throws(() => parseFieldSelector("__proto__=x", "pods"), ApiError);
});
