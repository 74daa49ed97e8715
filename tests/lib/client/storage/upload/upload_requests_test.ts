import assert from "node:assert/strict";

import { onUploadRequested, requestUpload, type UploadChoice } from "@/lib/client/storage/upload/upload_requests.ts";

Deno.test("upload requests: a dialog that is requested before its island is awake opens once it is", () => {
  const opened: UploadChoice[] = [];
  const listen = () => onUploadRequested((choice) => opened.push(choice));
  requestUpload("folder");
  const stop = listen();
  assert.deepEqual(opened, ["folder"]);
  requestUpload("files");
  assert.deepEqual(opened, ["folder", "files"]);
  stop();
  listen()();
  assert.deepEqual(opened, ["folder", "files"], "none is opened twice");
});
