import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { s3Keys } from "@/embedded/tests/store/store_fixture.ts";

const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex");
const hmac = (key: Uint8Array | string, data: string) => createHmac("sha256", key).update(data).digest();

/** What is sent; the query holds its parameters sorted, encoded, each with an equals sign. */
export interface Sent {
  method: string;
  path: string;
  query?: string;
  /** Values as text: they travel, and are signed, in UTF-8. */
  headers?: Record<string, string>;
  /** Headers of several lines each, joined by a comma in the signature. */
  lines?: Record<string, string[]>;
  body?: Uint8Array<ArrayBuffer>;
  /** What stands for the body in the signature; its digest when left out. */
  payload?: string;
}

/** Sends a request signed here, as the curator: with headers and bodies that the SDK would not send. */
export async function signedFetch(origin: string, sent: Sent): Promise<Response> {
  const { accessKeyId, secretAccessKey } = s3Keys("curator", SAMPLE_PASSWORD);
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const payload = sent.payload ?? sha256(sent.body ?? "");
  const headers: Record<string, string> = {
    ...sent.headers,
    ...Object.fromEntries(Object.entries(sent.lines ?? {}).map(([name, values]) => [name, values.join(",")])),
    host: new URL(origin).host,
    "x-amz-content-sha256": payload,
    "x-amz-date": time,
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name].trim()}`);
  const canonical = [sent.method, sent.path, sent.query ?? "", ...lines, "", names.join(";"), payload].join("\n");
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const key = scope.split("/").reduce<Uint8Array | string>((key, part) => hmac(key, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, ` +
    `Signature=${signature}`;
  const wire = names.filter((name) => name !== "host")
    .flatMap((name) =>
      (sent.lines?.[name] ?? [headers[name]]).map((value): [string, string] => [
        name,
        Buffer.from(value).toString("latin1"),
      ])
    );
  return await fetch(`${origin}${sent.path}${sent.query ? `?${sent.query}` : ""}`, {
    method: sent.method,
    headers: [...wire, ["authorization", authorization]],
    body: sent.body,
  });
}

/** The code of an answer in S3's XML; "none" for a success. */
export async function codeOf(response: Response): Promise<string> {
  const text = await response.text();
  return response.ok ? "none" : /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? `${response.status}`;
}
