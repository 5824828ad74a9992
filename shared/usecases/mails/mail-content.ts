/** What a mail says before it is set as text or HTML. */
export interface Content {
  readonly subject: string
  readonly paragraphs: readonly string[]
  /** Label and value. */
  readonly facts: readonly (readonly [string, string])[]
  /** What the reader may do now. */
  readonly advice: string
  /** Why this reader gets it; default: as the owner of a workspace. */
  readonly reason?: string
}

/** A value of the mail by its name, on one line. Throws when the mail has none. */
export type Fact = (name: string) => string
