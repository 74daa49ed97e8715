import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway } from "@/lib/http/errors.ts";
import { callS3, type S3, type S3Call } from "./client.ts";
import type { ObjectName } from "./objects.ts";
import { readXml } from "./read_xml.ts";
import { MalformedXml, scanXml } from "./xml.ts";

/** An upload in parts that the store keeps until it is completed or aborted. */
export interface OpenUpload {
  readonly name: ObjectName;
  readonly uploadId: string;
}

/** A part that the store has. */
export interface SentPart {
  readonly number: number;
  /** As the store named it, quotes included. */
  readonly etag: string;
}

/** What a finished upload made. */
export interface CompletedUpload {
  readonly etag: string | null;
  /** Headers of the store's answer. */
  readonly headers: Headers;
}

/** Begins an upload in parts. @throws HttpError as {@link callS3} */
export async function openUpload(s3: S3, caller: Caller, name: ObjectName, headers: Headers): Promise<OpenUpload> {
  const response = await callS3(s3, caller, { method: "POST", ...at(name), query: [["uploads", ""]], headers });
  const uploadId = await readXml(response, uploadIdOf, at(name).resource);
  return { name, uploadId };
}

/** Sends one part of known length. @throws HttpError as {@link callS3}, 502 when the store names no entity tag */
export async function sendPart(
  s3: S3,
  caller: Caller,
  { name, uploadId }: OpenUpload,
  number: number,
  part: Pick<S3Call, "body" | "madeHere"> & { readonly lengthBytes: number },
): Promise<SentPart> {
  const resource = `${at(name).resource} part ${number}`;
  const response = await callS3(s3, caller, {
    method: "PUT",
    ...at(name),
    query: [["partNumber", String(number)], ["uploadId", uploadId]],
    ...part,
    resource,
  });
  await response.body?.cancel();
  const etag = response.headers.get("etag");
  if (etag === null || !/^[\x21\x23-\x25\x27-\x3b\x3d\x3f-\x7e"]{1,256}$/.test(etag)) {
    throw badGateway(`${resource}: the store's answer is not S3's`);
  }
  return { number, etag };
}

/** Makes the object of its parts; `conditions` are If-Match and If-None-Match. @throws HttpError as {@link callS3} */
export async function finishUpload(
  s3: S3,
  caller: Caller,
  { name, uploadId }: OpenUpload,
  parts: readonly SentPart[],
  conditions: Headers,
): Promise<CompletedUpload> {
  const list = parts.map(({ number, etag }) =>
    `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', "&quot;")}</ETag></Part>`
  );
  const body = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${
    list.join("")
  }</CompleteMultipartUpload>`;
  const headers = new Headers(conditions);
  headers.set("content-type", "application/xml");
  const response = await callS3(s3, caller, {
    method: "POST",
    ...at(name),
    query: [["uploadId", uploadId]],
    headers,
    body,
    // The store puts the parts together before it answers.
    lengthBytes: new TextEncoder().encode(body).length,
  });
  const etag = await readXml(response, completedEtag, at(name).resource);
  return { etag, headers: response.headers };
}

/** Gives an upload up; its parts are gone. @throws HttpError as {@link callS3}, 404 when it is no more */
export async function abandonUpload(s3: S3, caller: Caller, { name, uploadId }: OpenUpload): Promise<void> {
  const response = await callS3(s3, caller, { method: "DELETE", ...at(name), query: [["uploadId", uploadId]] });
  await response.body?.cancel();
}

function at({ bucket, key }: ObjectName) {
  return { bucket, key, resource: `object '${key}'` };
}

function uploadIdOf(xml: string): string {
  const id = leafOf(xml, "InitiateMultipartUploadResult", "UploadId");
  if (!id) throw new MalformedXml("no upload id");
  return id;
}

function completedEtag(xml: string): string | null {
  return leafOf(xml, "CompleteMultipartUploadResult", "ETag");
}

/** The text of an element directly below the root, which must have the given name: an error may come as a success. */
function leafOf(xml: string, root: string, name: string): string | null {
  let found: string | null = null;
  const check = (path: string) => {
    if (path !== root && !path.startsWith(`${root}/`)) throw new MalformedXml(`expected ${root}`);
  };
  scanXml(xml, {
    leaf(path, text) {
      check(path);
      if (path === `${root}/${name}`) found = text;
    },
    close: check,
  });
  return found;
}
