import type { Ms } from '#shared/domain/invoice/model.ts'
import type { CommonPauses } from '#shared/ports/timers.ts'

interface Group {
  readonly waiting: Set<{ resume(): void }>
  timer: NodeJS.Timeout | undefined
}

/** Pauses of a process, none of which has begun. */
export function createCommonPauses(): CommonPauses {
  const groups = new Map<Ms, Group>()
  return {
    begin: (everyMs, delayMs, resume) => {
      const group = groups.get(everyMs) ?? { waiting: new Set(), timer: undefined }
      groups.set(everyMs, group)
      const one = { resume }
      group.waiting.add(one)
      group.timer ??= setTimeout(() => {
        group.timer = undefined
        const ended = [...group.waiting]
        group.waiting.clear()
        for (const each of ended) each.resume()
      }, delayMs)
      return () => {
        group.waiting.delete(one)
        if (group.waiting.size > 0) return
        clearTimeout(group.timer)
        group.timer = undefined
      }
    },
  }
}
