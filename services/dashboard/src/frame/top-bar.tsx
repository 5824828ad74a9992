import { IconSearch } from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import { MODES, type Mode } from '#shared/domain/enumerations.ts'
import { showZone } from '../format/time.ts'
import { ZONE } from '../parts/time.tsx'
import { useNow } from '../parts/use-now.ts'
import { placePath } from '../session/scope.ts'
import { openSearch } from './open-search.ts'
import type { NavigationTarget } from './target.ts'

/** Search, Live or Test, and the time zone of all times. Switching the mode keeps the page and drops the item. */
export function TopBar({ target }: { readonly target: NavigationTarget | null }) {
  const now = useNow(3_600_000)
  const { pathname } = useLocation()
  const switchable = target !== null && !pathname.startsWith('/system')
  return (
    <header className="pm-top">
      {target === null ? null : (
        <button type="button" className="pm-search" onClick={openSearch}>
          <IconSearch size={16} aria-hidden />
          <span>Search invoices, orders, addresses, transactions, events…</span>
          <kbd>Ctrl K</kbd>
        </button>
      )}
      {switchable ? (
        <ModeSwitch target={target} page={pathname.split('/')[3] ?? 'overview'} />
      ) : (
        <span className="pm-grow" />
      )}
      <span className="pm-zone">{showZone(ZONE, now)}</span>
    </header>
  )
}

const MODE_LABELS: Readonly<Record<Mode, string>> = { live: 'Live', test: 'Test' }

function ModeSwitch({ target, page }: { readonly target: NavigationTarget; readonly page: string }) {
  return (
    <nav className="pm-mode" aria-label="Mode">
      {MODES.map((mode) => (
        <Link
          key={mode}
          to={placePath(target.workspaceId, mode, page)}
          aria-current={mode === target.mode ? 'true' : undefined}
        >
          {MODE_LABELS[mode]}
        </Link>
      ))}
    </nav>
  )
}
