import { Icon, type IconName } from "@/components/icon.tsx";

interface SearchFieldProps {
  readonly icon: IconName;
  /** Of its value in the address. */
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** What it holds at first. */
  readonly value: string;
  readonly class?: string;
  onText?(text: string): void;
}

/** A field in which a beginning of names, or a name, is typed. */
export function SearchField({ icon, name, label, hint, value, class: own, onText }: SearchFieldProps) {
  return (
    <label class={own ? `field ${own}` : "field"}>
      <Icon name={icon} />
      <span class="sr">{label}</span>
      <input
        type="search"
        name={name}
        defaultValue={value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onText?.(currentTarget.value)}
      />
    </label>
  );
}
