-- Whether a job was paid for is asked where its own row is not there yet.
CREATE INDEX wallet_transactions_debits ON read_model.wallet_transactions (job_id) WHERE type = 'WalletDebited';
