import type { ReactNode } from 'react'

/**
 * A card with a title; `beside` is shown to the right of the title. `flush` removes the padding, for tables. `label` is its name for screen
 * readers where several cards of a page have the same title.
 */
export function Card(props: {
  readonly title?: string
  readonly label?: string
  readonly beside?: ReactNode
  readonly flush?: boolean
  readonly className?: string
  readonly children: ReactNode
}) {
  return (
    <section className={`pm-card ${props.className ?? ''}`} aria-label={props.label ?? props.title}>
      {props.title === undefined ? null : (
        <header className="pm-card-head">
          <h2>{props.title}</h2>
          {props.beside === undefined ? null : <div className="pm-card-beside">{props.beside}</div>}
        </header>
      )}
      {props.flush === true ? props.children : <div className="pm-card-body">{props.children}</div>}
    </section>
  )
}

/** A fact as a name and a value; null where it does not apply. */
export type Fact = readonly [name: string, value: ReactNode] | null

/** Facts as names and values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="pm-facts">
      {facts
        .filter((fact) => fact !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** A highlighted sentence with a tone; for the state of an object at the top of a page. */
export function Note(props: {
  readonly tone: 'pending' | 'partial' | 'paid' | 'danger' | 'new' | 'confirming'
  readonly icon?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <div className={`pm-note tone-${props.tone}`}>
      {props.icon}
      <div className="pm-note-text">{props.children}</div>
    </div>
  )
}
