import type pg from 'pg';

/** Every row of every table of the read model, in an order that does not depend on how they came about. */
export async function dumpReadModel(
  pool: pg.Pool,
  { except = [] }: { readonly except?: readonly string[] } = {},
): Promise<Readonly<Record<string, readonly string[]>>> {
  const { rows: tables } = await pool.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'read_model' ORDER BY tablename`,
  );
  const dump: Record<string, readonly string[]> = {};
  for (const { tablename } of tables.filter((table) => !except.includes(table.tablename))) {
    const { rows } = await pool.query<{ row: string }>(
      `SELECT entry::text AS row FROM read_model.${tablename} AS entry ORDER BY entry::text COLLATE "C"`,
    );
    dump[tablename] = rows.map(({ row }) => row);
  }
  return dump;
}
