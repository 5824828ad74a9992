// biome-ignore-all lint/style/useFilenamingConvention: Medusa finds and orders migrations by this name.
import { Migration } from '@medusajs/framework/mikro-orm/migrations'

/** The table of the list. */
export class Migration20261129000000 extends Migration {
  async up() {
    this.addSql(`create table if not exists "paymesh_invoice" (
      "id" text not null, "invoice_id" text not null, "invoice_number" integer not null, "session_id" text not null,
      "symbol" text not null, "decimals" integer not null, "returned_base" text not null default '0',
      "open_base" text not null default '0', "reason" text not null, "is_finished" boolean not null,
      "seen_at" text not null, "created_at" timestamptz not null default now(),
      "updated_at" timestamptz not null default now(), "deleted_at" timestamptz null,
      constraint "paymesh_invoice_pkey" primary key ("id"))`)
    this.addSql(
      'create unique index if not exists "IDX_paymesh_invoice_invoice_id_unique" on "paymesh_invoice" ("invoice_id") where deleted_at is null',
    )
    this.addSql(
      'create index if not exists "IDX_paymesh_invoice_open_base" on "paymesh_invoice" ("open_base") where deleted_at is null',
    )
  }

  async down() {
    this.addSql('drop table if exists "paymesh_invoice" cascade')
  }
}
