import { FIXITY_LABELS } from "@/lib/presentation/storage/fixity_sentences.ts";
import { fixityPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

/** What the form of a new check holds, as typed. */
export interface FixityFields {
  readonly bucket: string;
  readonly prefix: string;
  /** MB per second. */
  readonly rate: string;
  readonly allVersions: boolean;
  readonly full: boolean;
}

/** What is wrong with a form that was sent: with a field of it, or with all of it. */
export interface FormProblem {
  readonly field: keyof FixityFields | null;
  readonly text: string;
}

interface FixityFormProps {
  readonly account: string;
  /** Those that the account may list; null where it may not. */
  readonly buckets: readonly string[] | null;
  readonly fields: FixityFields;
  readonly problem: FormProblem | null;
}

/** Longest name of a bucket (S3 API), and longest beginning of a key, characters. */
const MAX_BUCKET_NAME = 63;
const MAX_PREFIX = 1024;
/** Lowest rate, MB per second: a tenth, since stores take a slower connection for dead. */
const LEAST_RATE = "0.1";

/** The form that starts a check. It works without scripts. Line breaks cannot be typed into it, nor sent as they are. */
export function FixityForm({ account, buckets, fields, problem }: FixityFormProps) {
  const isListed = buckets !== null && (fields.bucket === "" || buckets.includes(fields.bucket));
  const wrong = (field: keyof FixityFields) =>
    problem?.field === field ? { "aria-invalid": true, "aria-describedby": "fixity-problem" } as const : {};
  return (
    <form class="new-check" method="post" action={fixityPath({ account })}>
      <input type="hidden" name="act" value="start" />
      {problem && <p id="fixity-problem" class="banner bad" role="alert">{problem.text}</p>}
      <label>
        {FIXITY_LABELS.bucket}
        {isListed
          ? (
            <select name="bucket" required {...wrong("bucket")}>
              {buckets.map((name) => <option key={name} value={name} selected={name === fields.bucket}>{name}</option>)}
            </select>
          )
          : (
            <input
              class="vid"
              name="bucket"
              value={fields.bucket}
              required
              maxLength={MAX_BUCKET_NAME}
              autocapitalize="none"
              spellcheck={false}
              {...wrong("bucket")}
            />
          )}
      </label>
      <label class="wide">
        {FIXITY_LABELS.prefix}
        {/[\r\n]/.test(fields.prefix)
          ? (
            <span class="vid exact">
              <KeyName name={fields.prefix} />
              <input type="hidden" name="exact_prefix" value={encodeURIComponent(fields.prefix)} />
            </span>
          )
          : (
            <input
              class="vid"
              name="prefix"
              value={fields.prefix}
              maxLength={MAX_PREFIX}
              placeholder={STORAGE_LABELS.prefixHint}
              autocapitalize="none"
              spellcheck={false}
              {...wrong("prefix")}
            />
          )}
      </label>
      <label>
        {FIXITY_LABELS.rate}
        <input type="number" name="rate" min={LEAST_RATE} step="any" value={fields.rate} {...wrong("rate")} />
      </label>
      <fieldset>
        <legend class="sr">{FIXITY_LABELS.options}</legend>
        <label class="box">
          <input type="checkbox" name="all_versions" value="1" checked={fields.allVersions} />{" "}
          {FIXITY_LABELS.allVersions}
        </label>
        <label class="box">
          <input type="checkbox" name="full" value="1" checked={fields.full} /> {FIXITY_LABELS.full}
        </label>
      </fieldset>
      <p class="btns">
        <button class="btn primary" type="submit">{FIXITY_LABELS.start}</button>
      </p>
    </form>
  );
}
