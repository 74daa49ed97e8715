import assert from "node:assert/strict";
import fc from "fast-check";
import { RouteTable } from "@/lib/http/route_table.ts";

function tableOf(...templates: string[]): RouteTable<string> {
  const table = new RouteTable<string>();
  for (const template of templates) table.add(template, template);
  return table;
}

Deno.test("route table: literals before names before the rest, each only where the whole path fits", () => {
  const table = tableOf("/", "/a", "/a/", "/a/{x}", "/a/{x}/b", "/a/lit/c", "/a/{x}/k/{*}", "/api/{*}", "/{*}");
  const cases: readonly (readonly [path: string, template: string])[] = [
    ["/", "/"],
    ["/a", "/a"],
    ["/a/", "/a/"],
    ["/a/1", "/a/{x}"],
    ["/a/1/b", "/a/{x}/b"],
    ["/a/lit", "/a/{x}"],
    ["/a/lit/c", "/a/lit/c"],
    ["/a/lit/b", "/a/{x}/b"],
    ["/a/1/k/x/y/", "/a/{x}/k/{*}"],
    ["/a/1/k/", "/a/{x}/k/{*}"],
    ["/a/1/k", "/{*}"],
    ["/a//b", "/{*}"],
    ["/a/1/b/", "/{*}"],
    ["/api/x", "/api/{*}"],
    ["/api/", "/api/{*}"],
    ["/api", "/{*}"],
    ["/A", "/{*}"],
    ["/%61", "/a"],
    ["/a%2F1", "/{*}"],
    ["/a/%zz", "/a/{x}"],
    ["/__proto__", "/{*}"],
  ];
  for (const [path, template] of cases) assert.equal(table.find(path), template, path);
  assert.equal(tableOf("/a").find("/b"), undefined);
  assert.equal(tableOf("/{x}").find("/"), undefined);
});

Deno.test("route table: what was added first stays", () => {
  const table = new RouteTable<number>();
  for (const value of [1, 2]) for (const template of ["/a/{x}", "/b/{*}"]) table.add(template, value);
  assert.deepEqual([table.find("/a/1"), table.find("/b/1")], [1, 1]);
});

Deno.test("route table: finds the template that a path was made of, whatever the names hold", () => {
  const templates = ["/api/v1/buckets", "/api/v1/buckets/{b}", "/api/v1/buckets/{b}/objects", "/api/v1/{t}/{n}/x"];
  const table = tableOf(...templates);
  const name = fc.string({ unit: "binary", minLength: 1 }).filter((text) => text.isWellFormed()).map(
    encodeURIComponent,
  );
  fc.assert(fc.property(fc.constantFrom(...templates), name, (template, value) => {
    if (template.includes("{t}") && value === "buckets") return;
    assert.equal(table.find(template.replace(/\{\w\}/g, () => value)), template);
  }));
});
