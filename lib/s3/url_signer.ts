import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { encodeRfc3986 } from "@/lib/std/encode_rfc3986.ts";
import { type HashedPrefix, hashPrefix, HEX_BYTES, Hmac, MAX_BATCH, type Message } from "@/lib/std/sha256.ts";
import type { HeaderRecord } from "./client.ts";
import { ALGORITHM, amzDate, canonicalHeaders, hostOf, signingKey, UNSIGNED_PAYLOAD } from "./signer.ts";

/** What the URLs of a batch have in common. */
interface UrlBatch {
  readonly method: "GET" | "PUT";
  /** Scheme, host and port, without the scheme's default port. */
  readonly origin: string;
  readonly keys: S3Keys;
  readonly region: string;
  /** Validity, 1 to 604,800 s. */
  readonly expiresSeconds: number;
  /** ms since 1970 */
  readonly now: number;
}

/** Receives the URL of an item as bytes of ASCII, which stay the same until it returns. */
type UrlReceiver<Item> = (item: Item, url: Uint8Array) => void;

/**
 * A signer of many presigned URLs, equal to those of `presignQuery`: what they share is hashed once, and written out once.
 * They are computed a few at a time, so `found` gets them later than they are added, in the same order. The headers of a
 * URL are signed, and its client must send them as they are.
 */
interface UrlSigner<Item, Varying> {
  add(item: Item, varying: Varying, headers?: HeaderRecord): void;
  /** Computes the URLs that wait for more. */
  flush(): void;
}

/** A signer of URLs by what their encoded paths have after `folder`. */
export function urlSigner<Item>(
  batch: UrlBatch,
  folder: string,
  found: UrlReceiver<Item>,
): UrlSigner<Item, string> {
  const before = hashPrefix(`${batch.method}\n${folder}`);
  const start = bytes(batch.origin + folder);
  return signer(batch, found, ({ query, lines }) => ({
    canonical: before,
    canonicalEnd: bytes(`\n${query}\n${lines}`),
    start,
    end: bytes(`?${query}&X-Amz-Signature=`),
  }));
}

/** A signer of the parts of one upload, by their numbers. */
export function partUrlSigner<Item>(
  batch: UrlBatch,
  path: string,
  uploadId: string,
  found: UrlReceiver<Item>,
): UrlSigner<Item, number> {
  const upload = encodeRfc3986(uploadId);
  const start = bytes(`${batch.origin}${path}?uploadId=${upload}&partNumber=`);
  // Headers of the same names have the same query.
  const beginnings = new Map<string, HashedPrefix>();
  return signer(batch, found, ({ query, lines }) => {
    const canonical = beginnings.get(query) ?? hashPrefix(`${batch.method}\n${path}\n${query}&partNumber=`);
    beginnings.set(query, canonical);
    return {
      canonical,
      canonicalEnd: bytes(`&uploadId=${upload}\n${lines}`),
      start,
      end: bytes(`&${query}&X-Amz-Signature=`),
    };
  });
}

/** URLs with the same headers, which differ in one text. */
interface UrlForm {
  /** The canonical request in front of the text, and after it. */
  readonly canonical: HashedPrefix;
  readonly canonicalEnd: Uint8Array;
  /** The URL in front of the text, and after it, up to the signature. */
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** The parameters that all signed URLs have, and the end of the canonical request after all parameters. */
interface SignedParameters {
  readonly query: string;
  readonly lines: string;
}

/** Its message is the canonical request. */
interface WaitingUrl<Item> extends Message {
  readonly item: Item;
  readonly form: UrlForm;
}

function signer<Item>(
  batch: UrlBatch,
  found: UrlReceiver<Item>,
  formOf: (parameters: SignedParameters) => UrlForm,
): UrlSigner<Item, string | number> {
  const { hmac, parameters } = shared(batch);
  const withoutHeaders = formOf(parameters({}));
  let waiting: WaitingUrl<Item>[] = [];
  let url = new Uint8Array(0);
  const flush = () => {
    const signatures = hmac.hexOfDigests(waiting);
    for (let index = 0; index < waiting.length; index++) {
      const { item, form, text } = waiting[index];
      const length = form.start.length + text.length + form.end.length + HEX_BYTES;
      if (url.length !== length) url = new Uint8Array(length);
      url.set(form.start);
      let at = form.start.length;
      for (let i = 0; i < text.length; i++) url[at++] = text.charCodeAt(i);
      url.set(form.end, at);
      at += form.end.length;
      for (let i = index * HEX_BYTES; at < length; i++) url[at++] = signatures[i];
      found(item, url);
    }
    waiting = [];
  };
  return {
    add(item, varying, headers) {
      const form = headers ? formOf(parameters(headers)) : withoutHeaders;
      waiting.push({ item, form, prefix: form.canonical, text: String(varying), end: form.canonicalEnd });
      if (waiting.length === MAX_BATCH) flush();
    },
    flush,
  };
}

function shared({ origin, keys, region, expiresSeconds, now }: UrlBatch) {
  const date = amzDate(now);
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const query = `X-Amz-Algorithm=${ALGORITHM}&X-Amz-Credential=${encodeRfc3986(`${keys.accessKey}/${scope}`)}` +
    `&X-Amz-Date=${date}&X-Amz-Expires=${expiresSeconds}&X-Amz-SignedHeaders=`;
  const hmac = new Hmac(
    signingKey(keys, date.slice(0, 8), region),
    `${ALGORITHM}\n${date}\n${scope}\n`,
  );
  const host = hostOf(origin);
  return {
    hmac,
    parameters(headers: HeaderRecord): SignedParameters {
      const { lines, names } = canonicalHeaders(host, headers, Object.keys(headers));
      return { query: query + encodeRfc3986(names), lines: `${lines}\n${names}\n${UNSIGNED_PAYLOAD}` };
    },
  };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
