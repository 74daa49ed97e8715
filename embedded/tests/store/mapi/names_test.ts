import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { account, archiveMapi, callMapi, statusAndText } from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const { username: _, ...USER } = account("", { fullName: "L" });

/** Whatever is made with a name, by the member that holds it. */
const NAMED: readonly [path: string, member: string, rest: Record<string, unknown>][] = [
  ["/userAccounts?password=secret-1", "username", USER],
  ["/groupAccounts", "groupname", {}],
  ["/contentClasses", "name", {}],
  ["/namespaces/letters/retentionClasses", "name", { value: "A+1y" }],
];

storeTest("names: one that no path can contain is rejected: it could not be read or deleted", async ({ store }) => {
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
});

storeTest("namespaces: directoryUsage is read in any case, and shown in one", async ({ store }) => {
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

Deno.test("names: a name that looks like another is rejected, existing ones stay usable", async () => {
  const store = await startStore();
  const looks = [" reader", "reader ", "rea  der", "rea\u200bder", "reader\u200d", "\ufeffreader", "rea\u00adder"]
    .concat(["\uff52\uff45ader", "re\u00a0ader", "re\u3000ader", "re\u2003ader", "e\u0301va", "\ufb01n", "a\u1680b"])
    .concat(["a\u202eb", "a\u115fb", "a\u2800b", "a\u2028b", "a\ufe0fb", "a\u034fb", "a\ue000b", "a\u0085b", "a\tb"]);
  for (const [path, member, rest] of NAMED) {
    for (const name of looks) {
      const { status, text } = await archiveMapi(store, "PUT", path, { ...rest, [member]: name });
      assert.match(`${status} ${text}`, new RegExp(`^400 .*${member}`), `${path} ${JSON.stringify(name)}`);
    }
    for (const name of ["Åsa Öberg", "éva", "Ирина", "日本語", "a.b-c_d@e'f"]) {
      const made = await archiveMapi(store, "PUT", path, { ...rest, [member]: name });
      assert.equal(made.status, 200, `${name}: ${made.text}`);
    }
  }
  const external = await archiveMapi(store, "PUT", "/groupAccounts", { externalGroupID: "staff\u200b" });
  assert.match(`${external.status} ${external.text}`, /^400 .*groupname/);
  for (
    const [query, named] of [["username=chief%E2%80%8B", "username"], [
      "username=c&initialSecurityGroup=%20g",
      "initial",
    ]]
  ) {
    const tenants = `/tenants?${query}&password=secret-1`;
    const refused = await statusAndText(callMapi(store, null, "admin", "PUT", tenants, { name: "fresh" }));
    assert.match(refused, new RegExp(`^400 .*${named}`));
  }
  await store.stop();
  // Of a version that allowed it: it logs in, is found, changed, put into groups, made an owner and deleted.
  const index = new DatabaseSync(`${store.folder}/index.db`);
  index.exec("UPDATE users SET name = 'reader\u200b', folded = 'reader\u200b' WHERE name = 'reader'");
  index.close();
  await using again = await startStore(store.folder);
  const one = `/userAccounts/${encodeURIComponent("reader\u200b")}`;
  const by = async (method: string, path: string, body?: unknown) =>
    (await archiveMapi(again, method, path, body)).status;
  assert.equal((await archiveMapi(again, "GET", one, undefined, "reader\u200b")).status, 200);
  assert.equal(await by("POST", one, { fullName: "R" }), 200);
  assert.equal(await by("PUT", "/groupAccounts", { groupname: "g", members: { username: ["reader\u200b"] } }), 200);
  assert.equal(await by("POST", "/namespaces/letters", { owner: "reader\u200b" }), 200);
  assert.equal(await by("POST", `${one}/changePassword`, { newPassword: "secret-22" }), 200);
  assert.equal(await by("DELETE", one), 200);
});
