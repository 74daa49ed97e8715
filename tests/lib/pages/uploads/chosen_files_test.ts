import assert from "node:assert/strict";
import { MAX_FILES, walkEntries } from "@/lib/pages/uploads/chosen_files_client.ts";

/** A folder whose entries are read two at a time, as browsers read a hundred. */
function folder(name: string, children: FileSystemEntry[]): FileSystemEntry {
  return {
    name,
    isDirectory: true,
    createReader() {
      const left = [...children];
      return { readEntries: (found: (entries: FileSystemEntry[]) => void) => found(left.splice(0, 2)) };
    },
  } as unknown as FileSystemEntry;
}

function entry(name: string, isReadable = true): FileSystemEntry {
  return {
    name,
    isDirectory: false,
    file(found: (file: File) => void, failed: (error: Error) => void) {
      if (isReadable) found(new File(["x"], name));
      else failed(new DOMException("gone", "NotFoundError"));
    },
  } as unknown as FileSystemEntry;
}

Deno.test("dropped files: all of the folders below, with their paths", async () => {
  const deep = folder("deep", [entry("4")]);
  const { files, isCut, unreadable } = await walkEntries([
    new File(["x"], "loose"),
    folder("a", [entry("1"), folder("empty", []), entry("2"), entry("3"), deep]),
  ]);
  assert.deepEqual(files.map(({ path }) => path), ["loose", "a/1", "a/2", "a/3", "a/deep/4"]);
  assert.deepEqual([isCut, unreadable], [false, 0]);
});

Deno.test("dropped files: what cannot be read, and folders in circles, are counted and left out", async () => {
  const children: FileSystemEntry[] = [entry("1")];
  const circle = folder("circle", children);
  children.push(circle);
  const { files, unreadable } = await walkEntries([entry("gone", false), entry("a"), circle]);
  assert.equal(files[0].path, "a");
  assert.equal(unreadable, 2);
  assert.ok(files.length < 100);
});

Deno.test("dropped files: there is a most of one choice", async () => {
  const many = Array.from({ length: MAX_FILES + 1 }, (_, index) => new File([], String(index)));
  const { files, isCut } = await walkEntries(many);
  assert.deepEqual([files.length, isCut], [MAX_FILES, true]);
  assert.equal((await walkEntries(many.slice(1))).isCut, false);
});
