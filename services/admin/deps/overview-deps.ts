import type { ServiceContext } from '#services/context.ts'
import { createExceptionDesk } from '#shared/db/exceptions/exception-decisions.ts'
import { createChangeFeed } from '#shared/db/reports/change-feed.ts'
import { createOverviewReads } from '#shared/db/reports/overview-reads.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import type { ExceptionDesk } from '#shared/ports/exception-decisions.ts'
import type { OverviewReads } from '#shared/ports/overview.ts'
import type { CursorRepository } from '#shared/ports/scanning.ts'
import { createOverview, type Overview } from '#shared/usecases/reports/read-overview.ts'
import { createLiveHub, type LiveHub } from '../live-hub.ts'

/** What the front page and live views work with, beside what all routers have. */
export interface OverviewDeps {
  readonly live: LiveHub
  readonly overview: Overview
  readonly overviewReads: OverviewReads
  readonly inbox: Pick<ExceptionDesk, 'list' | 'countOpen'>
  readonly chainCursors: Pick<CursorRepository, 'list'>
}

/** Wires the real parts on open connections. The stream of changes begins when the first page follows. */
export function buildOverviewDeps({ db, clock, random, logger }: ServiceContext): OverviewDeps {
  const reads = createOverviewReads(db)
  return {
    live: createLiveHub({ feed: createChangeFeed(db, logger), random }),
    overview: createOverview({ reads, clock }),
    overviewReads: reads,
    inbox: createExceptionDesk(db),
    chainCursors: createCursorRepository(db),
  }
}
