import type { ComponentChildren } from "preact";

import {
  exactName,
  type FixityField,
  type FixityFields,
  hasChoices,
  LEAST_RATE,
} from "@/lib/pages/storage/fixity_fields.ts";
import { FIELD_LABELS, FIXITY_LABELS, FIXITY_SENTENCES } from "@/lib/pages/storage/fixity_check.ts";
import { fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { MAX_BUCKET_NAME, NameInput } from "./bucket_form.tsx";
import { KeyName } from "./key_name.tsx";

interface FixityFormProps {
  readonly account: string;
  /** Those that the account may list; null where it may not. */
  readonly buckets: readonly string[] | null;
  /** The choice of an earlier check. */
  readonly baseline: ComponentChildren;
  readonly fields: FixityFields;
  /** Why the form was rejected; `field`: null where it is not about one field. */
  readonly problem: { readonly field: FixityField | null; readonly text: string } | null;
}

/** Longest key (S3 API), characters. */
const MAX_KEY = 1024;
/** The id of the message about a wrong field. */
export const FORM_PROBLEM = "fixity-problem";

/** The form that starts a check. It works without scripts. Line breaks cannot be typed into it, nor sent as they are. */
export function FixityForm({ account, buckets, baseline, fields, problem }: FixityFormProps) {
  const isListed = buckets !== null && (fields.bucket === "" || buckets.includes(fields.bucket));
  const isAbout = (field: FixityField) => problem?.field === field;
  const isOfChoice = problem?.field != null && !isAbout("bucket") && !isAbout("prefix");
  const of = <Field extends FixityField>(field: Field) => ({ field, fields, isWrong: isAbout(field) });
  return (
    <form class="new-check" method="post" action={fixityPath({ account })}>
      <input type="hidden" name="act" value="start" />
      {problem && <p id={FORM_PROBLEM} class="banner bad" role="alert">{problem.text}</p>}
      {isListed
        ? (
          <label>
            {FIELD_LABELS.bucket}
            <select name="bucket" required {...wrong(isAbout("bucket"))}>
              {buckets.map((name) => <option key={name} value={name} selected={name === fields.bucket}>{name}</option>)}
            </select>
          </label>
        )
        : <TextField {...of("bucket")} maxLength={MAX_BUCKET_NAME} isRequired />}
      <TextField {...of("prefix")} isWide hint={STORAGE_LABELS.prefixHint} />
      <details class="choices" open={hasChoices(fields) || isOfChoice}>
        <summary>{FIXITY_LABELS.more}</summary>
        <fieldset>
          <legend>{FIXITY_LABELS.compareWith}</legend>
          <TextField {...of("manifest")} isWide hint="2025/manifest-sha256.txt" />
          <TextField {...of("manifest_bucket")} maxLength={MAX_BUCKET_NAME} />
          <TextField {...of("manifest_root")} note={FIXITY_SENTENCES.rootNote} />
          {baseline}
          <p class="boxes">
            <Box {...of("bag")} />
            <Box {...of("etags")} value="ignore" />
          </p>
        </fieldset>
        <fieldset>
          <legend>{FIXITY_LABELS.atTheEnd}</legend>
          <TextField {...of("report_to")} isWide hint="reports/" />
        </fieldset>
        <fieldset>
          <legend>{FIXITY_LABELS.how}</legend>
          <label>
            {FIELD_LABELS.rate}
            <input
              type="number"
              name="rate"
              min={LEAST_RATE}
              step="any"
              value={fields.rate}
              {...wrong(isAbout("rate"))}
            />
          </label>
          <p class="boxes">
            <Box {...of("all_versions")} />
            <Box {...of("full")} />
          </p>
        </fieldset>
      </details>
      <p class="btns">
        <button class="btn primary" type="submit">{FIXITY_LABELS.start}</button>
      </p>
    </form>
  );
}

function wrong(isWrong: boolean) {
  return isWrong ? { "aria-invalid": true, "aria-describedby": FORM_PROBLEM } as const : {};
}

/** The fields whose values are of a type. */
type FieldsOf<Value> = { [Field in FixityField]: FixityFields[Field] extends Value ? Field : never }[FixityField];

interface FieldProps<Field> {
  readonly field: Field;
  readonly fields: FixityFields;
  readonly isWrong: boolean;
}

interface TextFieldProps extends FieldProps<FieldsOf<string>> {
  readonly maxLength?: number;
  readonly isWide?: boolean;
  readonly isRequired?: boolean;
  /** An example, in the empty field. */
  readonly hint?: string;
  /** Help below the field. */
  readonly note?: string;
}

function TextField(props: TextFieldProps) {
  const { field, fields, isWrong, maxLength = MAX_KEY, isWide, isRequired, hint, note } = props;
  const value = fields[field];
  return (
    <label class={isWide ? "wide" : undefined}>
      {FIELD_LABELS[field]}
      {/[\r\n]/.test(value)
        ? (
          <span class="vid exact">
            <KeyName name={value} />
            <input type="hidden" name={exactName(field)} value={encodeURIComponent(value)} />
          </span>
        )
        : (
          <NameInput
            name={field}
            value={value}
            required={isRequired}
            maxLength={maxLength}
            placeholder={hint}
            {...wrong(isWrong)}
          />
        )}
      {note !== undefined && <span class="note">{note}</span>}
    </label>
  );
}

function Box({ field, fields, isWrong, value = "1" }: FieldProps<FieldsOf<boolean>> & { readonly value?: string }) {
  return (
    <label class="box">
      <input type="checkbox" name={field} value={value} checked={fields[field]} {...wrong(isWrong)} />{" "}
      {FIELD_LABELS[field]}
    </label>
  );
}
