/** Markup that is safe to send. Only `html` makes it. */
export interface Html {
  readonly markup: string
}

/** Content of a template: text is escaped, markup is not, null is omitted, lists are joined. */
export type Content = string | number | Html | null | readonly Content[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Template tag for HTML. Every value is escaped for text and for attributes in quotes, unless it is markup itself. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  return { markup: parts.reduce((before, part, index) => before + write(values[index - 1] ?? null) + part) }
}

function write(content: Content): string {
  if (content === null) return ''
  if (typeof content === 'string' || typeof content === 'number') return escapeText(String(content))
  return 'markup' in content ? content.markup : content.map(write).join('')
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
