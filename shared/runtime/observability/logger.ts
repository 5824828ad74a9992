import { hostname } from 'node:os'
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import type { Logger } from '#shared/ports/runtime.ts'
import { createLogOutput } from './log-output.ts'

const SECRET_FIELDS = ['authorization', 'secret', 'apiKey', 'password', 'xpub', 'masterKey', 'keyPepper', 'cookie']

const SECRET_NAMES: ReadonlySet<string> = new Set(SECRET_FIELDS)

/** Each secret field at the top, one level down and two levels down. */
const REDACTED_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])

export interface LoggerOptions {
  /** Process type, on every line. */
  readonly name: string
  /** Version of the program, on every line; absent in tools that run once. */
  readonly version?: string
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** Destination of the lines; standard output when absent. */
  readonly destination?: DestinationStream | undefined
}

/**
 * A logger that writes one JSON object per line: `level`, `time` (ISO 8601), `process`, `host`, `version`, the given fields and `msg`.
 * Fields named like a secret (`authorization secret apiKey password xpub masterKey …`) are replaced by `[redacted]`
 * at the top and down to two levels below; the caller must leave out secrets deeper down or inside a text.
 */
export function createLogger({ name, version, level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { process: name, host: hostname(), ...(version === undefined ? {} : { version }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: (error: unknown) => describeError(error), err: (error: unknown) => describeError(error) },
  }
  const plain = pino(options, destination ?? STANDARD_OUTPUT)
  return wrap(plain, plain.child({}, { redact: { paths: REDACTED_PATHS, censor: '[redacted]' } }))
}

/** One for all: each tries what waits when the process exits. */
const STANDARD_OUTPUT = createLogOutput(1)

/** Other properties of an error are left out: libraries attach whole requests and responses. */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined
  const internal = 'internal' in error && typeof error.internal === 'string' ? error.internal : undefined
  const cause = error.cause === undefined || depth === 3 ? undefined : describeError(error.cause, depth + 1)
  const errors =
    error instanceof AggregateError && depth < 3 ? error.errors.map((one) => describeError(one, depth + 1)) : undefined
  return { type: error.name, message: error.message, code, internal, stack: error.stack, cause, errors }
}

/** Searching for secrets costs more than the line itself, so it is skipped where there can be none. */
function wrap(plain: PinoLogger, redacting: PinoLogger): Logger {
  const of = (fields: object): PinoLogger => (isHarmless(fields) ? plain : redacting)
  return {
    debug: (fields, message) => of(fields).debug(fields, message),
    info: (fields, message) => of(fields).info(fields, message),
    warn: (fields, message) => of(fields).warn(fields, message),
    error: (fields, message) => of(fields).error(fields, message),
    child: (fields) => {
      const child = redacting.child(fields)
      return wrap(isHarmless(fields) ? plain.child(fields) : child, child)
    },
  }
}

/** True when no field value can hide a secret, and no field is named like one. */
function isHarmless(fields: object): boolean {
  for (const [name, value] of Object.entries(fields)) {
    if ((typeof value === 'object' && value !== null) || SECRET_NAMES.has(name)) return false
  }
  return true
}
