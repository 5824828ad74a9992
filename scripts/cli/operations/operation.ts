import type { Installation } from '../session/installation.ts'
import type { ProcedurePath } from '../session/operator-caller.ts'
import type { Flags } from './input-flags.ts'
import type { SubjectKind } from './subjects.ts'

/** A command of operators: words of the command line for a procedure of the dashboard API. */
export interface Operation {
  readonly procedure: ProcedurePath
  readonly help: string
  /** Fields that are given by their place, in order. */
  readonly operands?: readonly string[]
  /** The field whose thing names the workspace and mode. Absent: `--workspace` and `--mode` do, if the procedure works in one. */
  readonly about?: readonly [kind: SubjectKind, field: string]
  /** Lists: works in every workspace and both modes unless they are named, and prints the `items` of all. */
  readonly isList?: true
  /** Lists: reads every page. */
  readonly isWhole?: true
  /** The mode without `--mode`; absent: it must be given. */
  readonly mode?: 'live'
  /** Also offers `--mode`, for things of both modes. */
  readonly takesMode?: true
  /** The procedure for what belongs to no workspace; a list has that too, unless it is filtered. */
  readonly ownerless?: ProcedurePath
  /** The procedure that `--dry-run` calls instead. */
  readonly dryRun?: ProcedurePath
  /** The procedure to call instead when this flag is given. */
  readonly with?: readonly [flag: string, procedure: ProcedurePath]
  /** The procedure of the same workspace and mode whose output is printed instead. */
  readonly shows?: ProcedurePath
  /** A procedure without input whose output is added to that of the first. */
  readonly also?: ProcedurePath
  /** Also offers `--wait`: waits so many seconds until a scanner has run the `command` of the output. */
  readonly waits?: true
  readonly flags?: Flags
  /** Fields that are always the same. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Columns of a list, by their path in an item. */
  readonly columns?: readonly string[]
  /** The output for a person; absent: a plain rendering. */
  readonly text?: (output: never, input: never, installation: Installation) => string | Promise<string>
  /** The output of `dryRun` for a person; absent: a plain rendering. */
  readonly dryText?: (output: never, input: never) => string
  /** A sentence below the output for a person. */
  readonly note?: string
  /** A sentence on stderr about the output of the procedure before `shows`. */
  readonly remark?: (output: never, checkoutBaseUrl: string) => string
  /** A sentence below a refusal with `INVALID_STATE`. */
  readonly whenRefused?: string
  /** Whether the output ends the command with status 1. */
  readonly isFailure?: (output: never) => boolean
}
