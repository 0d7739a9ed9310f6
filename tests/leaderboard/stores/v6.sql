BEGIN TRANSACTION;
CREATE TABLE entries (
	seq INTEGER NOT NULL, 
	problem TEXT NOT NULL, 
	dtype TEXT NOT NULL, 
	device_kind TEXT NOT NULL, 
	device TEXT NOT NULL, 
	harness_major TEXT NOT NULL, 
	baseline TEXT NOT NULL, 
	author TEXT NOT NULL, 
	solution TEXT NOT NULL, 
	language TEXT NOT NULL, 
	time_us DOUBLE, 
	speedup DOUBLE, 
	speedup_low DOUBLE, 
	speedup_high DOUBLE, 
	unranked_reason TEXT NOT NULL, 
	date DATETIME NOT NULL, 
	problem_hash TEXT NOT NULL, 
	solution_hash TEXT NOT NULL, 
	harness TEXT NOT NULL, 
	result TEXT NOT NULL, 
	sol_fraction DOUBLE, 
	origin TEXT NOT NULL, 
	accepted BOOLEAN NOT NULL, 
	conclusive BOOLEAN NOT NULL, 
	model TEXT NOT NULL, 
	verdict TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "entries" VALUES(1,'gemm','float32','cuda','NVIDIA H100 80GB HBM3','0','PyTorch eager','ann','tiled.cu','cuda',12.3,2.0,1.99600399733466615792e+00,2.00400400266800060578e+00,'','2026-03-01 12:00:00.000005','p1','c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab','0.1.0','one',NULL,'',1,1,'','ACCEPTED','');
INSERT INTO "entries" VALUES(2,'gemm','float32','cuda','NVIDIA H100 80GB HBM3','0','PyTorch eager','bob','fast.cu','cuda',12.3,3.0,2.99400599600199912586e+00,3.00600600400200068662e+00,'','2026-03-01 12:01:00.000005','p1','s1','0.1.0','two',NULL,'',1,1,'','ACCEPTED','');
INSERT INTO "entries" VALUES(3,'gemm','float32','cuda','NVIDIA H100 80GB HBM3','0','','cyd','tiled.cu','cuda',NULL,NULL,NULL,NULL,'not timed','2026-03-01 12:02:00.000005','p1','s2','0.1.0','three',NULL,'',0,1,'','WRONG_ANSWER','');
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema','6');
CREATE TABLE results (
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	created TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	problem_hash TEXT NOT NULL, 
	dtype TEXT NOT NULL, 
	device_kind TEXT NOT NULL, 
	device_name TEXT NOT NULL, 
	verdict TEXT NOT NULL, 
	author TEXT NOT NULL, 
	solution_hash TEXT NOT NULL, 
	harness_version TEXT NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO "results" VALUES(1,'one','2026-03-01T12:00:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','ann','c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab','0.1.0','c16cb576e2901656f0d1462515a5c6ec6cc9ff26d7ae2e94e263e11fec7de4fb','{"schema":1,"id":"one","created":"2026-03-01T12:00:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"ann","name":"tiled.cu","language":"cuda","hash":"c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab","path":"solutions/gemm/ann/tiled.cu","generation":null},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","reason":null,"message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}],"contract":"solution"},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000246,"low":0.000024550849167216396,"high":0.00002464924923281641},"speedup":{"value":2.0,"low":1.992015978687983,"high":2.008016021354684},"calls_per_batch":64,"captured":true,"kernels":null,"copied":null,"baseline_kernels":null,"overhead_s":0.00015,"baseline_overhead_s":null,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000246,0.0000246],"flops":137438953472.0,"bytes":201326592.0,"alone_s":null,"light_s":null,"others":[]}],"score":{"baseline":"PyTorch eager","speedup":{"value":2.0,"low":1.9960039973346662,"high":2.0040040026680006},"time_s":0.0000123,"ranked":true,"unranked_reason":"","others":[]},"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(2,'two','2026-03-01T12:01:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','bob','s1','0.1.0','9ee34d1a97bbda79ad10ca4fa40dd4dceb6ffda56dac0ad4c2f9fb4e1c6368a7','{"schema":1,"id":"two","created":"2026-03-01T12:01:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"bob","name":"fast.cu","language":"cuda","hash":"s1","path":"solutions/gemm/bob/fast.cu","generation":null},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","reason":null,"message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}],"contract":"solution"},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000369,"low":0.00003682627375082459,"high":0.000036973873849224616},"speedup":{"value":3.0,"low":2.9880239680319747,"high":3.0120240320320257},"calls_per_batch":64,"captured":true,"kernels":null,"copied":null,"baseline_kernels":null,"overhead_s":0.00015,"baseline_overhead_s":null,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000369,0.0000369],"flops":137438953472.0,"bytes":201326592.0,"alone_s":null,"light_s":null,"others":[]}],"score":{"baseline":"PyTorch eager","speedup":{"value":3.0,"low":2.994005996001999,"high":3.0060060040020007},"time_s":0.0000123,"ranked":true,"unranked_reason":"","others":[]},"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(3,'three','2026-03-01T12:02:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','WRONG_ANSWER','cyd','s2','0.1.0','ed47a97ea5edb49b8a3b03a01f1e417354998859ca1245becb1949710f7dba68','{"schema":1,"id":"three","created":"2026-03-01T12:02:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"cyd","name":"tiled.cu","language":"cuda","hash":"s2","path":"solutions/gemm/cyd/tiled.cu","generation":null},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"WRONG_ANSWER","reason":null,"message":"wrong","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=33,n=1,k=7,alpha=-0.5","passed":false,"seconds":null,"message":"c differs","mismatch":{"parameter":"c","differing":12,"total":33,"first":{"index":[0,3],"expected":1.25,"got":1.5,"allowed":0.00001,"expected_imag":null,"got_imag":null},"worst":{"index":[4,0],"expected":-2.0,"got":"NaN","allowed":0.00002,"expected_imag":null,"got_imag":null}}}],"shrunk":null,"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0,"threads":null,"occupancy":[]}],"contract":"solution"},"measurements":[],"score":null,"conditions":null,"profile":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
CREATE TABLE rulings (
	seq INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	result TEXT NOT NULL, 
	checksum VARCHAR(64) NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id)
);
INSERT INTO "rulings" VALUES(1,'bf5bf291e4e32c7fb30fab5ccd7227cb','two','4b24d2ec92a04ca03a7abb90b41853106f182180ea64100d4890907639f437c9','{"ruling":1,"id":"bf5bf291e4e32c7fb30fab5ccd7227cb","result":"two","created":"2026-11-22T15:42:51.020211Z","action":"INVALIDATED","who":"dora","reason":"precomputed"}');
CREATE TABLE sources (
	hash VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "sources" VALUES('c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab',X'2F2F2066697273740D0A696E7420783B0A');
CREATE INDEX results_by_problem ON results (problem, seq);
CREATE INDEX ix_rulings_result ON rulings (result);
CREATE INDEX entries_by_problem ON entries (problem, seq);
COMMIT;
