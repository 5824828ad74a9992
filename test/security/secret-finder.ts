const WINDOW = 16
/** Runs of characters that secrets consist of. */
const RUN = /[A-Za-z0-9+/_=-]{16,}/g

/** Finds planted secrets in any amount of text, whole or in part: any 16 characters of the middle of one are enough. */
export interface SecretFinder {
  readonly count: number
  /** Remembers a secret, and its base64 and hex forms; returns it. `kind` is named when it is found. */
  plant(kind: string, secret: string): string
  /** Kinds and places of the secrets in a text. */
  search(place: string, text: string): readonly string[]
}

/** Makes a finder without secrets. Texts may be long: each of their characters is looked at once. */
export function createSecretFinder(): SecretFinder {
  const cores = new Map<string, string>()
  let count = 0
  const remember = (kind: string, text: string): void => {
    const run = (text.match(RUN) ?? []).sort((one, other) => other.length - one.length)[0]
    if (run === undefined || run.length < WINDOW + 4)
      throw new Error(`a planted ${kind} must have 20 characters in a row`)
    // The front may be a public prefix, and the end is shown on purpose.
    const from = Math.floor((run.length - WINDOW) / 2)
    cores.set(run.slice(from, from + WINDOW), kind)
  }
  return {
    get count() {
      return count
    },
    plant(kind, secret) {
      count += 1
      remember(kind, secret)
      remember(`${kind} as base64`, Buffer.from(secret).toString('base64'))
      remember(`${kind} as hex`, Buffer.from(secret).toString('hex'))
      return secret
    },
    search(place, text) {
      const found: string[] = []
      for (const { 0: run, index } of text.matchAll(RUN)) {
        for (let at = 0; at + WINDOW <= run.length; at += 1) {
          const kind = cores.get(run.slice(at, at + WINDOW))
          if (kind !== undefined) found.push(`${kind} in ${place}: …${text.slice(Math.max(0, index - 80), index)}`)
        }
      }
      return found
    },
  }
}
