import assert from "node:assert/strict";
import { archiveMapi, leaks } from "@/tests/embedded/store/mapi_fixture.ts";
import { startStore } from "@/tests/embedded/store/store_fixture.ts";

const USER = { fullName: "L", localAuthentication: true, enabled: true, forcePasswordChange: false };

/** Whatever is made with a name, by the member that holds it. */
const NAMED: readonly [path: string, member: string, rest: Record<string, unknown>][] = [
  ["/userAccounts?password=secret-1", "username", USER],
  ["/groupAccounts", "groupname", {}],
  ["/contentClasses", "name", {}],
  ["/namespaces/letters/retentionClasses", "name", { value: "A+1y" }],
];

Deno.test(
  "names: one that no path can contain is rejected, since it could not be read or deleted again",
  leaks,
  async () => {
    await using store = await startStore();
    for (const [path, member, rest] of NAMED) {
      for (const name of [".", "..", "a\ud800", "\udc00", "a\u0000"]) {
        const { status, text } = await archiveMapi(store, "PUT", path, { ...rest, [member]: name });
        assert.match(`${status} ${text}`, new RegExp(`^400 .*${member}`), `${path} ${JSON.stringify(name)}`);
      }
      const name = "... \u{1f4dc} å";
      const made = await archiveMapi(store, "PUT", path, { ...rest, [member]: name });
      assert.equal(made.status, 200, made.text);
      const one = `${path.split("?")[0]}/${encodeURIComponent(name)}`;
      assert.equal((await archiveMapi(store, "GET", `${one}?verbose=true`)).json()[member], name);
      assert.equal((await archiveMapi(store, "DELETE", one)).status, 200, one);
    }
  },
);

Deno.test("tags: have 1 to 64 characters and no commas, of namespaces and tenants", leaks, async () => {
  await using store = await startStore();
  for (const [path, name] of [["", undefined], ["/namespaces", "tagged"]]) {
    for (const tag of ["", "a,b", "x".repeat(65), 7]) {
      const { status, text } = await archiveMapi(store, name ? "PUT" : "POST", path ?? "", {
        name,
        tags: { tag: [tag] },
      });
      assert.match(`${status} ${text}`, /^400 .*tags/, `${path} ${tag}`);
    }
  }
  const tags = { tag: ["x".repeat(64), "18th century"] };
  assert.equal((await archiveMapi(store, "PUT", "/namespaces", { name: "tagged", tags })).status, 200);
  assert.deepEqual((await archiveMapi(store, "GET", "/namespaces/tagged")).json().tags, tags);
});

Deno.test("namespaces: directoryUsage is read in any case, and shown in one", leaks, async () => {
  await using store = await startStore();
  assert.equal(
    (await archiveMapi(store, "PUT", "/namespaces", { name: "wide", directoryUsage: "UNBALANCED" })).status,
    200,
  );
  assert.equal((await archiveMapi(store, "GET", "/namespaces/wide")).json().directoryUsage, "Unbalanced");
  assert.equal((await archiveMapi(store, "POST", "/namespaceDefaults", { directoryUsage: "balanced" })).status, 200);
  assert.equal((await archiveMapi(store, "GET", "/namespaceDefaults")).json().directoryUsage, "Balanced");
  const wrong = await archiveMapi(store, "PUT", "/namespaces", { name: "deep", directoryUsage: "Deep" });
  assert.match(`${wrong.status} ${wrong.text}`, /^400 .*directoryUsage/);
});
