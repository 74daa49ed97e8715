import { currentLanguage, LANGUAGE_NAMES, LANGUAGES } from "@/lib/presentation/locale/language.ts";

/** A form with a button for each other language, by its own name. In the bar of a phone only its tag is seen. */
export function LanguageChoice({ here }: { /** The path and query of this page. */ here: string }) {
  const others = LANGUAGES.filter((language) => language !== currentLanguage());
  return (
    <form class="languages" method="post" action="/language">
      <input type="hidden" name="next" value={here} />
      {others.map((language) => (
        <button
          key={language}
          class="btn"
          type="submit"
          name="language"
          value={language}
          lang={language}
        >
          <span class="tag">{language.toUpperCase()}</span>
          <span class="name">{LANGUAGE_NAMES[language]}</span>
        </button>
      ))}
    </form>
  );
}
