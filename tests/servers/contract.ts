import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { s3Keys, startStore } from "@/embedded/tests/store/store_fixture.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";

/** Servers that a contract is also tried on, where the variables of the environment say where one is. */
export type OtherServer = "VERSITYGW" | "MINIO";

/** An S3 server under a contract. */
export interface Backend {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly isEmbedded?: boolean;
}

/** Something that every server has to do. */
export interface ContractCase<T> {
  readonly name: string;
  run(given: T): Promise<void>;
}

interface Contract<T> {
  readonly name: string;
  readonly cases: readonly ContractCase<T>[];
  /** Where other servers part from AWS: the case that they fail, and what they do. */
  readonly differences: Record<OtherServer, Readonly<Record<string, string>>>;
  /** Gives a backend's cases what they take. */
  given(backend: Backend, run: (given: T) => Promise<void>): Promise<void>;
  /** Further cases of the other servers alone. */
  of?(server: OtherServer, backend: Backend): readonly ContractCase<T>[];
}

/** Runs a contract on the embedded store, and on the other servers that the environment names. */
export function contractTests<T>({ name: contract, cases, differences, given, of = () => [] }: Contract<T>): void {
  const shared = sharedByFile(startStore, (store) => store[Symbol.asyncDispose]());
  for (const { name, run } of cases) {
    Deno.test(`${contract}, embedded store: ${name}`, async () => {
      const endpoint = (await shared()).s3("archive");
      await given({ endpoint, ...s3Keys("curator", SAMPLE_PASSWORD), isEmbedded: true }, run);
    });
  }
  for (const server of ["VERSITYGW", "MINIO"] as const) {
    const [endpoint, accessKeyId, secretAccessKey] = ["URL", "ACCESS_KEY", "SECRET_KEY"].map((part) =>
      Deno.env.get(`TEST_${server}_${part}`) ?? ""
    );
    const backend = { endpoint, accessKeyId, secretAccessKey };
    for (const { name, run } of [...cases, ...of(server, backend)]) {
      const difference = differences[server][name];
      const why = !endpoint ? `needs TEST_${server}_URL, _ACCESS_KEY and _SECRET_KEY` : difference;
      Deno.test(
        `${contract}, ${server}: ${name}${why ? ` (${why})` : ""}`,
        { ignore: why !== undefined },
        () => given(backend, run),
      );
    }
  }
}
