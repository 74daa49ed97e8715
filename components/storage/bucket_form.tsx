import type { ComponentProps } from "preact";

/** Longest name of a bucket (S3 API), characters. */
export const MAX_BUCKET_NAME = 63;

/** A field for a name, without the capital letters and corrections of browsers. */
export function NameInput(props: ComponentProps<"input">) {
  return <input class="vid" autocapitalize="none" spellcheck={false} {...props} />;
}

interface BucketFormProps extends Pick<ComponentProps<"form">, "class" | "action"> {
  readonly account: string;
  /** The name of the bucket in the address. */
  readonly name: string;
  readonly bucket?: string;
  readonly label: string;
  readonly button: ComponentProps<"button">;
}

/** A form that opens a page for the bucket whose name is typed. It works without scripts. */
export function BucketForm({ account, name, bucket, label, button, ...form }: BucketFormProps) {
  return (
    <form {...form}>
      <input type="hidden" name="account" value={account} />
      <label>
        {label}
        <NameInput name={name} value={bucket} required maxLength={MAX_BUCKET_NAME} />
      </label>
      <button type="submit" {...button} />
    </form>
  );
}
