BEGIN TRANSACTION;
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "meta" VALUES('schema','1');
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
INSERT INTO "results" VALUES(1,'one','2026-03-01T12:00:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','ann','c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab','0.1.0','c575246abdf58da137768cc73965ab043664935e9d38065ec1e079d31cd680da','{"schema":1,"id":"one","created":"2026-03-01T12:00:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"ann","name":"tiled.cu","language":"cuda","hash":"c34110b5801f7a33d72f2153742263e1daf4f9b490df60ee467e6ded0d98f2ab","path":"solutions/gemm/ann/tiled.cu"},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0}]},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000246,"low":0.000024550849167216396,"high":0.00002464924923281641},"speedup":{"value":2.0,"low":1.992015978687983,"high":2.008016021354684},"calls_per_batch":64,"captured":true,"overhead_s":0.00015,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000246,0.0000246],"flops":137438953472.0,"bytes":201326592.0}],"score":{"baseline":"PyTorch eager","speedup":{"value":2.0,"low":1.9960039973346662,"high":2.0040040026680006},"time_s":0.0000123,"ranked":true,"unranked_reason":""},"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(2,'two','2026-03-01T12:01:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','ACCEPTED','bob','s1','0.1.0','3b8ffb76927f1919d6e686c4fd2f7fa6ef9bf6fa25c7a2a6fc75a66d52cb98e8','{"schema":1,"id":"two","created":"2026-03-01T12:01:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"bob","name":"fast.cu","language":"cuda","hash":"s1","path":"solutions/gemm/bob/fast.cu"},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"ACCEPTED","message":"","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=1,n=1,k=1,alpha=0.0","passed":true,"seconds":0.001,"message":"","mismatch":null}],"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0}]},"measurements":[{"spec":"m=4096,n=4096,k=4096,alpha=0.01","time_s":{"value":0.0000123,"low":0.000012275424583608198,"high":0.000012324624616408205},"baseline_s":{"value":0.0000369,"low":0.00003682627375082459,"high":0.000036973873849224616},"speedup":{"value":3.0,"low":2.9880239680319747,"high":3.0120240320320257},"calls_per_batch":64,"captured":true,"overhead_s":0.00015,"samples_s":[0.0000123,0.000012312299999999999],"baseline_samples_s":[0.0000369,0.0000369],"flops":137438953472.0,"bytes":201326592.0}],"score":{"baseline":"PyTorch eager","speedup":{"value":3.0,"low":2.994005996001999,"high":3.0060060040020007},"time_s":0.0000123,"ranked":true,"unranked_reason":""},"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
INSERT INTO "results" VALUES(3,'three','2026-03-01T12:02:00.000005+00:00','gemm','p1','float32','cuda','NVIDIA H100 80GB HBM3','WRONG_ANSWER','cyd','s2','0.1.0','eed70acf32d0e3fce7dde35cfa0d662c5e69349929482553fb344842909ce1f8','{"schema":1,"id":"three","created":"2026-03-01T12:02:00.000005Z","problem":{"slug":"gemm","title":"Matrix product","hash":"p1"},"solution":{"author":"cyd","name":"tiled.cu","language":"cuda","hash":"s2","path":"solutions/gemm/cyd/tiled.cu"},"language":"cuda","dtype":"float32","device":{"kind":"cuda","name":"NVIDIA H100 80GB HBM3"},"verdict":"WRONG_ANSWER","message":"wrong","reproduce":"harness submit tiled.cu --seed 123456789","seed":"123456789","cases":[{"spec":"m=33,n=1,k=7,alpha=-0.5","passed":false,"seconds":null,"message":"c differs","mismatch":{"parameter":"c","differing":12,"total":33,"first":{"index":[0,3],"expected":1.25,"got":1.5,"allowed":0.00001},"worst":{"index":[4,0],"expected":-2.0,"got":"NaN","allowed":0.00002}}}],"build":{"seconds":1.1,"cached":false,"target":"sm_90","log":"","kernels":[{"name":"tiled","registers":64,"shared_bytes":8192,"spill_store_bytes":0,"spill_load_bytes":0}]},"measurements":[],"score":null,"output":"","notes":[],"environment":{"harness":"0.1.0","python":"3.11.9","platform":"Linux","torch":"","triton":"","driver":"","toolkit":"","sandbox":""}}');
CREATE INDEX results_by_problem ON results (problem, seq);
COMMIT;
