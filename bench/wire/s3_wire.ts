import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { encodeQuery, type QueryPairs, s3Path, signHeaders, UNSIGNED_PAYLOAD } from "@/lib/s3/s3_client.ts";
import { type Answer, HttpConnection, type SentBody } from "./http_connection.ts";

/** Address and keys of an S3 server. */
export interface S3Server {
  origin: string;
  keys: S3Keys;
}

/** One request to S3. */
export interface S3Sent {
  method: string;
  bucket: string;
  key?: string;
  query?: QueryPairs;
  headers?: Record<string, string>;
  body?: SentBody | null;
  onPart?: (part: Uint8Array) => void;
}

const REGION = "us-east-1";

/** Signed requests over one kept connection, the payload unsigned. */
export class S3Wire {
  readonly #connection: HttpConnection;
  readonly #keys: S3Keys;

  constructor({ origin, keys }: S3Server) {
    this.#connection = new HttpConnection(origin);
    this.#keys = keys;
  }

  /** Throws when the connection ends before the answer. */
  send({ method, bucket, key, query = [], headers, body, onPart }: S3Sent): Promise<Answer> {
    const path = s3Path(bucket, key);
    const signed: Record<string, string> = { ...headers };
    const request = { method, host: this.#connection.host, path, query };
    signHeaders(request, signed, UNSIGNED_PAYLOAD, {
      keys: this.#keys,
      region: REGION,
      now: Date.now(),
    });
    const target = query.length === 0 ? path : `${path}?${encodeQuery(query)}`;
    const sent = body ?? (method === "PUT" || method === "POST" ? new Uint8Array() : null);
    return this.#connection.request(method, target, Object.entries(signed), sent, onPart);
  }

  /** Sends a request that has to succeed. Throws with the answer's text when it does not. */
  async succeed(sent: S3Sent): Promise<Answer> {
    const answer = await this.send(sent);
    if (answer.status < 300) return answer;
    throw new Error(
      `${sent.method} /${sent.bucket}/${sent.key ?? ""}?${encodeQuery(sent.query ?? [])} was answered with ` +
        `${answer.status}: ${textOf(answer)}`,
    );
  }

  close(): void {
    this.#connection.close();
  }
}

/** The embedded store of a data folder whose application runs, as the sample administrator of the tenant archive. */
export function embeddedServer(dataFolder: string): S3Server {
  const ports: Record<string, number> = JSON.parse(Deno.readTextFileSync(`${dataFolder}/ports.json`));
  return {
    origin: `http://127.0.0.1:${ports["s3 archive"]}`,
    keys: {
      accessKey: Buffer.from("curator").toString("base64"),
      secretKey: createHash("md5").update(SAMPLE_PASSWORD).digest("hex"),
    },
  };
}

export function textOf(answer: Answer): string {
  return new TextDecoder().decode(answer.body);
}

/** The texts of all elements of a name, for responses of a known shape: not a parser for hostile XML. */
export function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs"))].map(([, content]) => unescaped(content));
}

/** The text of the first element of a name; `""` where there is none. */
export function elementText(xml: string, name: string): string {
  return elements(xml, name)[0] ?? "";
}

function unescaped(text: string): string {
  return text.includes("<") ? text : text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
