/** A fenced block of a Markdown page. */
export interface CodeBlock {
  readonly language: string
  /** `name=value` words behind the language. */
  readonly attributes: Readonly<Record<string, string>>
  readonly code: string
}

/** The fenced blocks of a page, in their order. */
export function codeBlocks(markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(/^```(\S+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', words = '', code = '']) => ({
      language,
      attributes: Object.fromEntries(
        [...words.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
      ),
      code,
    }),
  )
}
