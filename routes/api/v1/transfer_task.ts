import { Buffer } from "node:buffer";
import { z } from "zod";
import { badRequest, codedError } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { readCountPage } from "@/lib/s3/listing.ts";
import { isUnder, outermost } from "@/lib/tasks/chosen_keys.ts";
import { codeMembers, failureMembers, TASK_STATUS, taskTimes, timesOf } from "@/lib/tasks/task_responses.ts";
import type { Task } from "@/lib/tasks/task.ts";
import {
  IF_EXISTS,
  newTransfer,
  targetOf,
  TRANSFER,
  type TransferOrder,
  type TransferProgress,
} from "@/lib/tasks/transfer.ts";
import { bucketName, isSameBucket, MAX_KEY_BYTES, objectKey, wellFormed } from "@/lib/s3/objects.ts";
import { bucketParams, chosenDetails, chosenTarget, type GatewayOperation, MAX_KEYS_BODY_BYTES } from "./operation.ts";
import { MAX_PREFIXES, MAX_TASK_KEYS, mustExist } from "./delete_task.ts";
import { followOperations, type TaskRoutes, TASKS_TAG } from "./tasks.ts";

const PATH = "/api/v1/buckets/{bucket}/transfer";
/** How long the response waits for the end of a short transfer, ms. */
const SETTLED_MS = 1000;

const chosen = {
  keys: z.array(objectKey).max(MAX_TASK_KEYS).default([]).meta({ examples: [["2026/a.txt"]] }),
  prefixes: z.array(wellFormed.min(1)).max(MAX_PREFIXES).default([]).meta({
    description: "Key prefixes",
    examples: [["2026/scans/"]],
  }),
};
const copyOrder = z.object({
  mode: z.enum(["copy", "move"]).meta({ description: "`move` deletes each source after its copy; use it to rename" }),
  ...chosen,
  from: wellFormed.default("").meta({
    description: "Common beginning of the keys, which is replaced: a folder, or the whole key for a rename",
    examples: ["2026/"],
  }),
  to: z.object({
    bucket: bucketName,
    prefix: wellFormed.meta({ description: "New beginning of the keys", examples: ["archive/2026/"] }),
  }),
  if_exists: z.enum(IF_EXISTS).default("skip").meta({
    description: "If the new key exists: skip the object, keep both by adding a number, or replace",
  }),
}).meta({ id: "TransferCopy" });
const undoOrder = z.object({
  mode: z.literal("undo").meta({ description: "Removes the delete markers of a deletion" }),
  ...chosen,
  since: z.iso.datetime().meta({ description: "When the deletion began" }),
  until: z.iso.datetime().meta({ description: "When it ended" }),
}).meta({ id: "TransferUndo" });
const transferTask = z.discriminatedUnion("mode", [copyOrder, undoOrder]);
type Body = z.output<typeof transferTask>;

const progress = z.object({
  task_id: z.string(),
  mode: z.enum(["copy", "move", "undo"]),
  status: z.enum(["processing", "done", "canceled", "failed"]),
  total: z.int().meta({ description: "Objects found so far; counting ends before copying begins" }),
  done: z.int().meta({ description: "Objects copied or restored" }),
  deleted: z.int().meta({ description: "Sources deleted by a move" }),
  skipped: z.int().meta({ description: "Objects skipped because their new key exists" }),
  renamed: z.int().meta({ description: "Objects renamed with a number" }),
  failed: z.int(),
  errors: z.array(z.object({ Key: z.string(), Status: z.int(), Message: z.string(), ...codeMembers })).meta({
    description: "First 100 failures; `Status` is the HTTP status of the object's request, or 0",
  }),
  error: z.string().optional().meta({ description: "Why the task failed" }),
  ...codeMembers,
  ...taskTimes,
}).meta({ id: "Transfer" });

/** Copying, moving and renaming objects in the background, and bringing back deleted ones. */
export function transferOperations(operation: GatewayOperation, routes: TaskRoutes): Operation[] {
  const { s3, tasks } = routes;
  return [
    operation({
      id: "start_transfer",
      method: "POST",
      path: PATH,
      tag: TASKS_TAG,
      summary: "Copy, move or rename objects, or undo a deletion, in the background",
      description:
        "Takes any number of objects, by keys or prefixes. The response waits up to a second, so `status` may already be " +
        "`done`.",
      params: bucketParams,
      body: { kind: "json", schema: transferTask, limitBytes: MAX_KEYS_BODY_BYTES },
      responses: {
        202: { description: "Started; `status` says whether it has already ended", schema: progress },
        400: { description: "No keys or prefixes, or an invalid target" },
        404: { description: "No such bucket" },
        429: { description: "Too many unfinished tasks; retry after `Retry-After`" },
      },
      audit: {
        action: "task_start",
        target: ({ params: { bucket }, body: { prefixes } }) => chosenTarget(bucket, prefixes),
        details: ({ body: { mode, keys, prefixes, ...body } }) => ({
          task: `transfer: ${mode}`,
          ...chosenDetails(keys, prefixes),
          ...("to" in body ? { to_bucket: body.to.bucket, to_prefix: body.to.prefix } : {}),
        }),
      },
      async handler({ caller, params: { bucket }, body }, context) {
        const { keys, prefixes } = body;
        if (keys.length === 0 && prefixes.length === 0) throw badRequest("Provide at least one prefix or key");
        const upward = body.mode === "undo" ? null : checkedUpward(bucket, body);
        await mustExist(s3, caller, bucket, prefixes[0]);
        if (upward !== null) {
          const { keys } = await readCountPage(s3, caller, bucket, { prefix: upward, maxKeys: 1 });
          if (keys > 0) throw ontoItself("It would get keys that are moved or copied themselves");
        }
        const id = await tasks.create(TRANSFER, { caller, bucket, ...newTransfer(orderOf(body), keys, prefixes) });
        context.noted = { task_id: id };
        await tasks.settled(id, SETTLED_MS);
        const { task, progress } = await tasks.find(TRANSFER, bucket, id, caller);
        return Response.json(bodyOf(task, progress), { status: 202 });
      },
    }),
    ...followOperations(operation, routes, {
      type: TRANSFER,
      path: PATH,
      noun: "transfer",
      schema: progress,
      cancel: {
        method: "POST",
        description: "Takes effect after the objects in progress. Copied objects stay.",
        name: "Transfer",
      },
      bodyOf,
    }),
  ];
}

function orderOf(body: Body): TransferOrder {
  if (body.mode === "undo") return { mode: "undo", since: Date.parse(body.since), until: Date.parse(body.until) };
  const { mode, from, to, if_exists } = body;
  return { mode, from, to, ifExists: if_exists };
}

/**
 * Checks where keys and prefixes are to go.
 *
 * @returns a prefix below which there must be no keys, as these would get keys that are sources themselves; null: none
 * @throws HttpError 400
 */
function checkedUpward(bucket: string, body: Extract<Body, { mode: "copy" | "move" }>): string | null {
  const { keys, prefixes, from, to } = body;
  if (![...keys, ...prefixes].every((key) => key.startsWith(from))) {
    throw badRequest("from: all keys and prefixes must begin with it");
  }
  const isTooLong = (key: string) => Buffer.byteLength(targetOf(body, key)) > MAX_KEY_BYTES;
  if ([...keys, ...prefixes].some(isTooLong)) {
    throw codedError(400, "transfer_key_too_long");
  }
  if (keys.some((key) => targetOf(body, key) === "")) throw badRequest("to: a key would be empty");
  if (!isSameBucket(to.bucket, bucket)) return null;
  if (to.prefix === from) throw codedError(400, "transfer_same_place");
  const sources = outermost(prefixes);
  if (prefixes.some((prefix) => isUnder(sources, targetOf(body, prefix)))) {
    throw codedError(400, "transfer_inside_itself");
  }
  const named = new Set(keys);
  if (keys.map((key) => targetOf(body, key)).some((key) => named.has(key) || isUnder(sources, key))) {
    throw ontoItself("to: a key would get one that is moved or copied itself");
  }
  const upward = prefixes.find((prefix) => prefix.startsWith(targetOf(body, prefix)));
  return upward === undefined ? null : upward + upward.slice(targetOf(body, upward).length);
}

function ontoItself(detail: string) {
  return badRequest(detail, { coded: { code: "transfer_onto_itself" } });
}

function bodyOf(task: Task, progress: TransferProgress) {
  const { order: { mode }, done, deleted, skipped, renamed, failed, errors, count } = progress;
  return {
    task_id: task.id,
    mode,
    status: TASK_STATUS[task.state],
    total: progress.total + (count?.files ?? 0),
    done,
    deleted,
    skipped,
    renamed,
    failed,
    errors: errors.map(({ coded, ...error }) => ({ ...error, ...coded })),
    ...timesOf(task),
    ...failureMembers(task.error),
  };
}
