import { SERVICE_NAMES } from '#scripts/service/services.ts'

/** Number of processes of each type; an absent type has one. */
export type Scale = Readonly<Record<string, number>>

const COUNT_MAX = 32

/** Parses `webhooks=4` and `api=2,invoices=2`. Throws an error that describes the expected form. */
export function parseScale(texts: readonly string[]): Scale {
  const scale: Record<string, number> = {}
  for (const part of texts.flatMap((text) => text.split(','))) {
    const [, name = '', count = ''] = /^\s*([a-z-]+)=(\d+)\s*$/.exec(part) ?? []
    if (!SERVICE_NAMES.some((known) => known === name) || Number(count) < 1 || Number(count) > COUNT_MAX) {
      throw new Error(`--scale takes NAME=1 to ${COUNT_MAX} with a name of ${SERVICE_NAMES.join(', ')}, not ${part}`)
    }
    scale[name] = Number(count)
  }
  return scale
}

/** One process to run: the first of a type has its name, the second is `<type>-2` and so on. */
export interface Instance {
  readonly name: string
  readonly type: string
  /** 1 for the first. */
  readonly number: number
  /** Number of processes of the type. */
  readonly of: number
}

/** Every process of a type, in order. */
export function instancesOf(type: string, scale: Scale): readonly Instance[] {
  const of = scale[type] ?? 1
  return Array.from({ length: of }, (_, index) => ({
    name: index === 0 ? type : `${type}-${index + 1}`,
    type,
    number: index + 1,
    of,
  }))
}
