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
import { XmlScanner } from "@/lib/std/xml_scanner.ts";
import {
  callS3,
  type HeaderRecord,
  parsedXml,
  type QueryPairs,
  resourceOf,
  type S3,
  type S3Call,
} from "./s3_client.ts";
import { documentHeaders, MalformedXml, nextToken } from "./s3_xml.ts";

/** The operations of the SDK, and the roots of their responses; null where the response is not read. */
const ROOTS = {
  AbortMultipartUpload: null,
  CompleteMultipartUpload: "CompleteMultipartUploadResult",
  CopyObject: "CopyObjectResult",
  CreateBucket: null,
  CreateMultipartUpload: "InitiateMultipartUploadResult",
  DeleteBucket: null,
  DeleteBucketCors: null,
  DeleteObject: null,
  DeleteObjectTagging: null,
  GetBucketAcl: "AccessControlPolicy",
  GetBucketCors: "CORSConfiguration",
  GetBucketVersioning: "VersioningConfiguration",
  GetObjectAcl: "AccessControlPolicy",
  GetObjectTagging: "Tagging",
  HeadBucket: null,
  ListBuckets: "ListAllMyBucketsResult",
  PutBucketAcl: null,
  PutBucketCors: null,
  PutBucketVersioning: null,
  PutObjectAcl: null,
  PutObjectTagging: null,
  UploadPartCopy: "CopyPartResult",
} as const;

type Operation = keyof typeof ROOTS;
type Sdk = typeof import("@aws-sdk/client-s3");
type Command<I extends ServiceInputTypes, O extends ServiceOutputTypes> = $Command<
  I,
  O,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;
type CommandOf<N extends Operation> = InstanceType<Sdk[`${N}Command`]>;
type OutputOf<N extends Operation> = CommandOf<N> extends Command<infer _, infer O> ? O : never;
type Commands = Readonly<
  Record<`${Operation}Command`, new (input: object) => Command<ServiceInputTypes, ServiceOutputTypes>>
>;

/** A call of an operation by `@aws-sdk/client-s3`. */
interface SdkCall<N extends Operation> extends Pick<S3Call, "bucket" | "key" | "headers" | "workMs" | "resource"> {
  readonly operation: N;
  readonly versionId?: string;
  readonly uploadId?: string;
  /** The other input of the operation. */
  readonly input?: Omit<CommandOf<N>["input"], "Bucket" | "Key" | "VersionId" | "UploadId">;
}

/**
 * The bucket and the key that the SDK sees. It would take some names of buckets for addresses of services (ARNs, access
 * points), and encodes keys in its own way.
 */
const PLACE = { Bucket: "bucket", Key: "key" };

/** Longest document that the SDK reads, bytes: ten thousand buckets. */
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;

/** The headers that are taken from the SDK. Older stores reject its checksums, or store them as data. */
const SENT_HEADERS = /^x-amz-(?:copy-source|metadata-directive)/;

/** The request of a command. */
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

/** How the request of one command is sent: the SDK passes its options to the handler. */
interface SendOptions extends NonNullable<Parameters<S3Client["send"]>[1]> {
  send(request: SdkRequest): Promise<SdkResponse>;
}

/**
 * Calls an operation by the SDK, which writes the request and reads the response. {@link callS3} sends and signs it, and
 * throws the store's errors.
 *
 * @param read takes what the SDK has read; its errors, too, are those of an invalid response
 * @throws HttpError as {@link callS3}; 502 when the response ends early, is too long or is not valid
 */
export async function callSdk<N extends Operation, T>(
  s3: S3,
  caller: Caller,
  call: SdkCall<N>,
  read: (output: OutputOf<N>, headers: Headers) => T,
): Promise<T> {
  const { commands, client } = await (loaded ??= load());
  const { operation, versionId: VersionId, uploadId: UploadId, input } = call;
  let response: Response | undefined;
  const options: SendOptions = {
    async send({ method, query, headers, body }) {
      response = await callS3(s3, caller, {
        ...call,
        method,
        query: queryPairs(query),
        headers: requestHeaders(call, headers, body),
        body,
      });
      return { statusCode: 200, headers: {}, body: await document(response, call) };
    },
  };
  try {
    const command = new commands[`${operation}Command`]({ ...PLACE, VersionId, UploadId, ...input });
    const output = await client.send(command, options);
    return read(output as OutputOf<N>, response?.headers ?? new Headers());
  } catch (error) {
    if (error instanceof HttpError || !response) throw error;
    throw badGateway(`${resourceOf(call)}: the store's response is not valid`, error);
  }
}

/** The same for a response of which only the headers are needed. */
export async function callSdkForHeaders<N extends Operation>(
  s3: S3,
  caller: Caller,
  call: SdkCall<N>,
): Promise<Headers> {
  return await callSdk(s3, caller, call, (_, headers) => headers);
}

let loaded: Promise<{ readonly commands: Commands; readonly client: S3Client }> | undefined;

/** Loaded when first used: the SDK takes about 30 MB. */
async function load() {
  const sdk = await import("@aws-sdk/client-s3");
  return { commands: sdk as Commands, client: new sdk.S3Client(CONFIG) };
}

const CONFIG: S3ClientConfig = {
  requestHandler: {
    handle: async (request: SdkRequest, { send }: SendOptions) => ({ response: await send(request) }),
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  },
  // `callS3` sets address and signature.
  endpointProvider: () => ({ url: new URL("http://store.invalid") }),
  signer: { sign: (request) => Promise.resolve(request) },
  credentials: { accessKeyId: "", secretAccessKey: "" },
  maxAttempts: 1,
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
  // Without these values the SDK would read the environment, files of the user, or the system.
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
  { headers: given }: Pick<S3Call, "headers">,
  ofSdk: SdkRequest["headers"],
  body: string | undefined,
): HeaderRecord {
  const sent = Object.entries(ofSdk).filter(([name]) => SENT_HEADERS.test(name));
  return { ...given, ...Object.fromEntries(sent), ...body === undefined ? {} : documentHeaders(body) };
}

async function document<N extends Operation>(response: Response, call: SdkCall<N>): Promise<Uint8Array> {
  const root = ROOTS[call.operation];
  if (root !== null) {
    const text = await parsedXml(response, call, (xml) => sdkDocument(xml, root), MAX_DOCUMENT_BYTES);
    return new TextEncoder().encode(text);
  }
  await response.body?.cancel();
  return new Uint8Array(0);
}

/** Most elements of a document: each takes far more memory than its bytes. */
const MAX_ELEMENTS = 50_000;
/** Longest tag or text, in characters. The SDK's parser joins texts and attributes character by character. */
const MAX_RUN = 64 * 1024;
const PREFIX = /(<\/?)[^\s<>:/]+:/g;
/** An entity of a character beyond 16 bits, which the SDK's parser truncates. */
const WIDE_ENTITY = /&#(?:x0*([1-9a-fA-F][0-9a-fA-F]{4,5})|0*([1-9]\d{4,6}));/g;

/**
 * Checks a document for the SDK's parser, which reads an invalid document as empty, recurses into each level, and keeps
 * prefixes.
 *
 * @returns the document without prefixes
 * @throws MalformedXml when it is not well-formed, too deep or too large, or has another root
 */
export function sdkDocument(xml: string, root: string): string {
  let elements = 0;
  const scanner = new XmlScanner(xml);
  for (let token = nextToken(scanner, root); token !== null; token = nextToken(scanner, root)) {
    if (token === "open" && ++elements > MAX_ELEMENTS) throw new MalformedXml("too many elements");
    if (scanner.end - scanner.start > MAX_RUN) throw new MalformedXml("too long a text");
  }
  return xml.replace(PREFIX, "$1").replace(
    WIDE_ENTITY,
    (_, hex, decimal) => String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal)),
  );
}
