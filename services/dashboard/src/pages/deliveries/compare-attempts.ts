import { diffJson } from '../webhooks/json-diff.ts'
import { answerLabel } from '../webhooks/labels.tsx'

/** An attempt as far as two of them can differ. */
export interface ComparedAttempt {
  readonly number: number
  readonly durationMs: number
  readonly statusCode: number | null
  readonly error: string | null
  readonly ip: string | null
  readonly phases: Readonly<Record<string, number | null>> | null
  readonly responseBody: string
}

/** What differs between two attempts of a delivery, and what is the same. */
export interface AttemptComparison {
  readonly different: readonly {
    readonly name: string
    readonly before: string | null
    readonly after: string | null
  }[]
  /** Names of facts that are equal. */
  readonly same: readonly string[]
}

const PHASES = {
  dnsMs: 'Looking up the host',
  connectMs: 'Connecting',
  tlsMs: 'TLS',
  firstByteMs: 'Waiting for the answer',
} as const

/** Compares what was answered, from where and how fast. The request is not compared: its body is the same in every attempt. */
export function compareAttempts(left: ComparedAttempt, right: ComparedAttempt): AttemptComparison {
  const facts = [
    fact('Response', left, right, ({ statusCode, error }) =>
      answerLabel({ lastStatusCode: statusCode, lastError: error }),
    ),
    fact('Address', left, right, ({ ip }) => ip),
    fact('Duration', left, right, ({ durationMs }) => `${durationMs} ms`),
    ...Object.entries(PHASES).map(([key, name]) =>
      fact(name, left, right, ({ phases }) => {
        const ms = phases?.[key] ?? null
        return ms === null ? null : `${ms} ms`
      }),
    ),
  ]
  const known = facts.filter(({ before, after }) => before !== null || after !== null)
  const bodies = bodyDifferences(left.responseBody, right.responseBody)
  const isEqual = ({ before, after }: (typeof facts)[number]) => before === after
  return {
    different: [...known.filter((one) => !isEqual(one)), ...bodies],
    same: [...known.filter(isEqual).map(({ name }) => name), ...(bodies.length === 0 ? ['Response body'] : [])],
  }
}

function fact(
  name: string,
  left: ComparedAttempt,
  right: ComparedAttempt,
  read: (attempt: ComparedAttempt) => string | null,
) {
  return { name, before: read(left), after: read(right) }
}

/** Field by field where both answered JSON, otherwise the whole texts. */
function bodyDifferences(before: string, after: string) {
  if (before === after) return []
  const fields = diffJson(before, after)
  if (fields === null) return [{ name: 'Response body', before: before || null, after: after || null }]
  return fields.map(({ path, ...sides }) => ({ name: path === '' ? 'Response body' : `Response ${path}`, ...sides }))
}
