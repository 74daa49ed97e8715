import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { until } from "@/tests/until.ts";
import { type GatewayCase, PART_BYTES } from "./gateway_server.ts";

const SMALL = 70_000;
const LARGE = 2 * PART_BYTES + 1000;

/** Bytes of a length, which differ from place to place. */
function bytes(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) & 0xff);
}

/** What fixity checks say of objects that are as they were written: a store may prove less, but none is told damaged. */
export const FIXITY_CASES: readonly GatewayCase[] = [
  {
    name: "a fixity check proves what was written at once, with a checksum and in parts, and writes its report",
    async run({ bucket, call, json }) {
      const put = async (key: string, body: BodyInit, headers: Record<string, string> = {}) => {
        const sent = await call("PUT", `/buckets/${bucket}/objects/${key}`, body, headers);
        assert.equal(sent.status, 200, await sent.text());
      };
      await put("at-once.tif", bytes(SMALL));
      await put("empty.txt", "");
      await put("summed.tif", bytes(SMALL), {
        "x-amz-checksum-sha256": createHash("sha256").update(bytes(SMALL)).digest("base64"),
      });
      await put("in-parts.tif", bytes(LARGE));
      await put("of-unknown-length.tif", new Blob([bytes(LARGE)]).stream());

      const [status, { task_id }] = await json("POST", `/buckets/${bucket}/fixity`, {
        full: true,
        report_to: "reports/",
      });
      assert.equal(status, 202);
      const at = `/buckets/${bucket}/fixity/${task_id}`;
      const ended = await until("the end of the check", async () => {
        const [, task] = await json("GET", at);
        return task.status === "processing" ? null : task;
      });
      const [, { rows }] = await json("GET", `${at}/report`);
      const found = rows.map(({ key, result }: Record<string, string>) => `${key}: ${result}`);
      assert.deepEqual([ended.status, ended.files, ended.damaged], ["done", 5, 0], JSON.stringify(rows));
      assert.deepEqual([ended.written.length, ended.write_error], [2, undefined]);
      // A store may keep checksums of its own, so what else proves an object depends on it.
      assert.deepEqual(found, [
        "at-once.tif: intact",
        "empty.txt: intact",
        "in-parts.tif: intact",
        "of-unknown-length.tif: intact",
        "summed.tif: intact",
      ]);
      assert.equal(rows[4].proved_by, "checksum");
      for (const { sha256, key, size } of rows) {
        assert.equal(sha256, createHash("sha256").update(bytes(size)).digest("hex"), key);
      }
    },
  },
];
