import type {
  $Command,
  S3Client,
  S3ClientConfig,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from "@aws-sdk/client-s3";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { callS3, resourceOf, type S3, type S3Call } from "./client.ts";
import { parsedXml } from "./read_xml.ts";
import type { QueryPairs } from "./signer.ts";
import { sdkDocument } from "./sdk_document.ts";
import { documentHeaders } from "./write_xml.ts";

type HttpHandlerOptions = NonNullable<Parameters<S3Client["send"]>[1]>;
export type Sdk = typeof import("@aws-sdk/client-s3");

interface ReadCall extends Pick<S3Call, "bucket" | "key" | "headers" | "workMs" | "resource"> {
  /** The root of the response's document. Absent: the response is not read. */
  readonly root?: string;
}

/** An operation of the S3 API. Its client is `@aws-sdk/client-s3`; the request is sent and signed by {@link callS3}. */
export interface SdkCall<I extends ServiceInputTypes, O extends ServiceOutputTypes> extends ReadCall {
  /** The command, with {@link PLACE} in place of the bucket and the key. */
  command(sdk: Sdk): $Command<I, O, S3ClientResolvedConfig, ServiceInputTypes, ServiceOutputTypes>;
}

/**
 * The bucket and the key that the SDK sees. It would take some names of buckets for addresses of services (ARNs, access
 * points), and encodes keys in its own way.
 */
export const PLACE = { Bucket: "bucket", Key: "key" } as const;

/** Longest document that the SDK reads, bytes: a thousand uploads with the longest keys, every byte of them escaped. */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

/** The headers that are sent as the SDK sets them. Its checksums are refused by older stores, or stored as data. */
const SENT_HEADERS = /^x-amz-(?:copy-source|metadata-directive)/;

/** What the SDK has made of a command. */
interface SdkRequest {
  readonly method: S3Call["method"];
  readonly query: Readonly<Record<string, string | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface SdkResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** How the request of one command is sent; the SDK passes its options to the handler. */
interface SendOptions extends HttpHandlerOptions {
  send(request: SdkRequest): Promise<SdkResponse>;
}

/**
 * Sends a command as the caller, and reads what the SDK makes of the response.
 *
 * @param read its errors, too, are those of an invalid response
 * @throws HttpError as {@link callS3}; 502 when the response ends early, is too long or is not valid; 400 for a text that
 *   XML does not allow is the caller's to throw (`requireXml`)
 */
export async function callSdk<I extends ServiceInputTypes, O extends ServiceOutputTypes, T>(
  s3: S3,
  caller: Caller,
  call: SdkCall<I, O>,
  read: (output: NoInfer<O>, headers: Headers) => T,
): Promise<T> {
  const { sdk, client } = await (loaded ??= load());
  let response: Response | undefined;
  const command = call.command(sdk);
  const operation = command.constructor.name.replace(/Command$/, "");
  const options: SendOptions = {
    async send({ method, query, headers, body }) {
      const sent = {
        ...call,
        operation,
        method,
        query: queryPairs(query),
        headers: requestHeaders(call, headers, body),
        body,
      };
      response = await callS3(s3, caller, sent);
      return { statusCode: 200, headers: {}, body: await document(response, call) };
    },
  };
  try {
    const output = await client.send(command, options);
    return read(output, response?.headers ?? new Headers());
  } catch (error) {
    if (error instanceof HttpError || !response) throw error;
    throw badGateway(`${resourceOf(call)}: the store's response is not valid`, error);
  }
}

/** The same for a response whose body is not needed. @returns its headers */
export async function callSdkForHeaders<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
  s3: S3,
  caller: Caller,
  call: SdkCall<I, O>,
): Promise<Headers> {
  return await callSdk(s3, caller, call, (_, headers) => headers);
}

let loaded: Promise<{ readonly sdk: Sdk; readonly client: S3Client }> | undefined;

/** Loaded when first used: the SDK takes about 30 MB. */
async function load() {
  const sdk = await import("@aws-sdk/client-s3");
  return { sdk, client: new sdk.S3Client(CONFIG) };
}

const CONFIG: S3ClientConfig = {
  requestHandler: {
    handle: async (request: SdkRequest, { send }: SendOptions) => ({ response: await send(request) }),
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  },
  // The address is that of the caller's store, and so are the keys.
  endpointProvider: () => ({ url: new URL("http://store.invalid") }),
  signer: { sign: (request) => Promise.resolve(request) },
  credentials: { accessKeyId: "", secretAccessKey: "" },
  maxAttempts: 1,
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
  // All that is absent here would be looked up in the environment, in files of the user, or in the system.
  region: "us-east-1",
  defaultsMode: "standard",
  retryMode: "standard",
  authSchemePreference: [],
  defaultUserAgentProvider: () => Promise.resolve([["stackroom"]]),
  userAgentAppId: () => Promise.resolve(undefined),
  forcePathStyle: true,
  useArnRegion: false,
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  disableS3ExpressSessionAuth: true,
};

function queryPairs(query: SdkRequest["query"]): QueryPairs {
  // The name of the operation is for the servers of AWS alone.
  return Object.entries(query).filter(([name]) => name !== "x-id").map(([name, value]) => [name, value ?? ""]);
}

function requestHeaders(
  call: Pick<S3Call, "headers">,
  ofSdk: SdkRequest["headers"],
  body: string | undefined,
): Headers {
  const headers = new Headers(call.headers);
  for (const [name, value] of Object.entries(ofSdk)) if (SENT_HEADERS.test(name)) headers.set(name, value);
  if (body !== undefined) {
    for (const [name, value] of Object.entries(documentHeaders(body))) headers.set(name, value);
  }
  return headers;
}

async function document(response: Response, call: ReadCall): Promise<Uint8Array> {
  const { root } = call;
  if (root !== undefined) {
    const text = await parsedXml(response, call, (xml) => sdkDocument(xml, root), MAX_DOCUMENT_BYTES);
    return new TextEncoder().encode(text);
  }
  await response.body?.cancel();
  return new Uint8Array(0);
}
