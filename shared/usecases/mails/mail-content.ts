/** Content of a mail before it is rendered as text or HTML. */
export interface Content {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** Label and value. */
  readonly facts: readonly (readonly [string, string])[]
  /** What the reader can do next. */
  readonly advice: string
  /** Why this reader receives it; default: as the owner of a workspace. */
  readonly reason?: string
}

/** A value of the mail by name, on one line. Throws when the mail has no such value. */
export type Fact = (name: string) => string
