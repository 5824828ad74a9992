import { type ComponentType, type ReactNode, useRef, useState } from 'react'
import { useLoaded } from '../parts/use-loaded.ts'
import type { NavigationTarget } from './target.ts'

/** Menus are drawn inside the banner: the navigation would cut them off, and outside of every landmark they are hard to find. */
export const MENU_PORTAL = { target: '.pm-top' } as const

/** Properties that a menu gets from its button. */
export interface MenuListProps {
  /** Where the page is; null outside of every workspace. */
  readonly target: NavigationTarget | null
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** A button of the navigation that opens a menu, whose code is requested when it is opened for the first time. */
export function MenuButton(props: {
  readonly className: string
  readonly label: string
  readonly target: NavigationTarget | null
  readonly load: () => Promise<ComponentType<MenuListProps>>
  readonly children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(false)
  const List = useLoaded(isOpen, props.load, () => setOpen(false))
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <div className="pm-menu">
      <button
        ref={button}
        type="button"
        className={props.className}
        aria-label={props.label}
        aria-haspopup="menu"
        aria-expanded={isOpen && List !== null}
        onPointerDown={() => {
          // An open menu closes at a press outside of it, this button included; the click that follows must not open it again.
          wasOpen.current = isOpen
        }}
        onClick={() => {
          if (!wasOpen.current) setOpen(true)
          wasOpen.current = false
        }}
      >
        {props.children}
      </button>
      {List === null ? null : <List target={props.target} isOpen={isOpen} onClose={close} />}
    </div>
  )
}
