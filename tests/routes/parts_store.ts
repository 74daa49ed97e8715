import type { FakeAnswer } from "./gateway_fixture.ts";
import { s3Error } from "./gateway_fixture.ts";

interface Upload {
  readonly key: string;
  readonly headers: Headers;
  readonly parts: Map<number, string>;
}

/** A store in memory that knows single writes and uploads in parts, as much of S3 as an upload needs. */
export class PartsStore {
  /** What was written, as text, by the path of the object. */
  readonly objects = new Map<string, { readonly body: string; readonly headers: Headers }>();
  readonly uploads = new Map<string, Upload>();
  /** Every upload that was ever begun. */
  begun = 0;
  /** Lengths of the parts in the order they came. */
  readonly partLengths: number[] = [];
  /** Stands in for the answer to requests that a test wants refused. */
  refuse: (method: string, query: URLSearchParams) => Response | null | Promise<Response | null> = () => null;

  readonly answer: FakeAnswer = async (_request, { method, target, headers, body }) => {
    const [path, queryText = ""] = target.split("?", 2);
    const query = new URLSearchParams(queryText);
    const refusal = await this.refuse(method, query);
    if (refusal) return refusal;
    const upload = this.uploads.get(query.get("uploadId") ?? "");
    if (method === "POST" && query.has("uploads")) {
      const id = `u/${++this.begun}+"&`;
      this.uploads.set(id, { key: path, headers, parts: new Map() });
      const text = id.replace("&", "&amp;");
      return new Response(
        `<InitiateMultipartUploadResult><UploadId>${text}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (query.has("uploadId") && upload?.key !== path) return s3Error(404, "NoSuchUpload", "no such upload");
    if (method === "DELETE" && upload) {
      this.uploads.delete(query.get("uploadId") ?? "");
      return new Response(null, { status: 204 });
    }
    if (method === "PUT" && upload) {
      if (Number(headers.get("content-length")) !== body.length) return s3Error(411, "MissingContentLength", "length");
      const number = Number(query.get("partNumber"));
      this.partLengths.push(body.length);
      upload.parts.set(number, body);
      return new Response(null, { headers: { ETag: `"part-${number}"` } });
    }
    if (method === "POST" && upload) {
      const numbers = [
        ...body.matchAll(/<Part><ETag>&quot;part-(\d+)&quot;<\/ETag><PartNumber>\1<\/PartNumber>/g),
      ]
        .map((match) => Number(match[1]));
      if (headers.get("if-none-match") === "*" && this.objects.has(path)) {
        return s3Error(412, "PreconditionFailed", "there already");
      }
      this.objects.set(path, {
        body: numbers.map((n) => upload.parts.get(n) ?? "?").join(""),
        headers: upload.headers,
      });
      this.uploads.delete(query.get("uploadId") ?? "");
      return new Response(
        "<CompleteMultipartUploadResult><ETag>&quot;whole-2&quot;</ETag></CompleteMultipartUploadResult>",
        { headers: { "x-amz-version-id": "v9" } },
      );
    }
    if (method === "PUT") {
      this.objects.set(path, { body, headers });
      return new Response(null, { headers: { ETag: '"single"' } });
    }
    return s3Error(501, "NotImplemented", "not here");
  };
}
